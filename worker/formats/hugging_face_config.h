// The text of a Hugging Face folder's config.json.
#pragma once

#include <string>

#include "common/model/spec.h"
#include "worker/formats/hugging_face_names.h"

namespace podium {

// With the architecture that has the head.
std::string hugging_face_config(const ModelSpec& spec, HeadChoice head = {});

}  // namespace podium
