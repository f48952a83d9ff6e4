// What a spec with mlperf leaves out, and what it may not be beside other keys: MLPerf says how often a
// benchmark's model is evaluated, by which measure, and with which optimizer.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/spec/facts.h"
#include "common/spec/problems.h"

namespace podium {

// Of a document that has the mapping "mlperf".
void fill_mlperf(nlohmann::json& filled);

void check_mlperf(const Facts& facts, Problems& problems);

}  // namespace podium
