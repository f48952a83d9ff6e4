// The text of a Hugging Face folder's config.json.
#pragma once

#include <string>

#include "common/model/spec.h"

namespace podium {

// With the architecture that has the head of `task`.
std::string hugging_face_config(const ModelSpec& spec, TrainingTask task = TrainingTask::pretrain);

}  // namespace podium
