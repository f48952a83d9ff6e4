// What clients may ask of a model that generates.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/error.h"
#include "worker/serve/generation_engine.h"
#include "worker/serve/loaded_model.h"

namespace podium {

struct PreparedText {
  GenerationRequest request;
  GenerationRule rule;
  bool stream = true;
  std::optional<std::chrono::milliseconds> timeout;
};

// `positions`: of a slot of the engine.
Result<PreparedText> prepare_text(const nlohmann::json& body, const LanguageModel& model, int positions);

}  // namespace podium
