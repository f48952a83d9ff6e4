// Rows that others published, for the resources that show them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "coordinator/api/api.h"

namespace podium {

// Of one benchmark; "": of all. Nothing where there is none of that name.
std::optional<nlohmann::json> published_rows(const Api& api, const std::string& benchmark);

// What to say then: "names none of …; did you mean …?"
std::string no_benchmark(const Api& api, const std::string& benchmark);

}  // namespace podium
