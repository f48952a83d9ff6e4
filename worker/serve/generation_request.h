// What clients may ask of a model that generates.
#pragma once

#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "worker/serve/generation_engine.h"
#include "worker/serve/loaded_model.h"

namespace podium {

struct PreparedText {
  GenerationRequest request;
  GenerationRule rule;
  bool stream = true;
};

// `positions`: of a slot of the engine.
Result<PreparedText> prepare_text(const nlohmann::json& body, const LanguageModel& model, int positions);

}  // namespace podium
