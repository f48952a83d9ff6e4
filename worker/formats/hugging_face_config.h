// The text of a Hugging Face folder's config.json.
#pragma once

#include <string>

#include "common/model/spec.h"
#include "worker/nn/families/family.h"

namespace podium {

// With the architecture that has this head.
std::string hugging_face_config(const ModelSpec& spec, const ModelHead& head = {});

}  // namespace podium
