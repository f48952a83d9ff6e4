// What a metric of another program is called here: MLflow's rule, by which runs are logged.
#pragma once

#include <string>
#include <string_view>

namespace podium::cli {

// Letters, digits, _ - . space : and /, and no path that would name something else, such as a//b or ../a; the
// name itself where it is like that.
std::string metric_name(std::string_view name);

}  // namespace podium::cli
