// One job's document, against all rules of the format.
#pragma once

#include <nlohmann/json.hpp>

#include "common/spec/problems.h"

namespace podium {

// Adds every problem with the document. Returns it with all defaults filled in, which is worth reading only
// if no problem was added.
nlohmann::json check_job(const nlohmann::json& document, Problems& problems);

}  // namespace podium
