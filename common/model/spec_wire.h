// A spec as launches and checkpoints hold it, which programs of before also read.
#pragma once

#include <nlohmann/json.hpp>

#include "common/model/spec.h"

namespace podium {

// As to_json(), but that "init" of the model is a path or absent, as older programs read it: the job whose
// weights it takes has the key "init_from", and a path's xxh3 the key "init_xxh3", which those pass over.
// job_spec_from_json() reads both.
nlohmann::json to_wire_json(const JobSpec& spec);

}  // namespace podium
