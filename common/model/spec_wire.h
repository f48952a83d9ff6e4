// A spec as launches and checkpoints hold it, which programs of before also read.
#pragma once

#include <nlohmann/json.hpp>

#include "common/model/spec.h"

namespace podium {

// As to_json(), but that the job whose weights model.init takes has the key "init_from": older programs take
// "init" for a path, and pass over a key that they do not know. job_spec_from_json() reads both.
nlohmann::json to_wire_json(const JobSpec& spec);

}  // namespace podium
