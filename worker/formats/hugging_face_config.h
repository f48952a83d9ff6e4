// The text of a Hugging Face folder's config.json.
#pragma once

#include <string>

#include "common/model/spec.h"

namespace podium {

std::string hugging_face_config(const ModelSpec& spec);

}  // namespace podium
