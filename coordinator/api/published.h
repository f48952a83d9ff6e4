// Rows that others published, for the resources that show them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "coordinator/api/api.h"

namespace podium {

// Rows of one benchmark, or of all for "". Nothing where no benchmark has that name.
std::optional<nlohmann::json> published_rows(const Api& api, const std::string& benchmark);

// The error message for that case.
std::string no_benchmark(const Api& api, const std::string& benchmark);

}  // namespace podium
