// What clients may ask of a model: POST /v1/models/NAME/ENDPOINT. A new endpoint is a function that prepares
// its requests, in a file of its own, and a line in endpoints.cc.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "worker/serve/batch_engine.h"
#include "worker/serve/loaded_model.h"

namespace podium {

// A request whose texts are tokens.
struct PreparedRequest {
  HeadPass pass = HeadPass::text;
  int top = 0;
  std::vector<TextSequence> sequences;
  // The body of the answer, as JSON, once everything is computed.
  std::function<std::string(const std::vector<SequenceResult>& results)> answer;
};

struct Endpoint {
  std::string_view name;
  bool (*suits)(const LoadedModel& model);
  // The model outlives what is prepared. None: generate, whose answers are streams (generation_request.h).
  Result<PreparedRequest> (*prepare)(const nlohmann::json& body, const BertModel& model);
};

std::span<const Endpoint> endpoints();
const Endpoint* find_endpoint(std::string_view name);  // nullptr: there is none

Result<PreparedRequest> prepare_fill_mask(const nlohmann::json& body, const BertModel& model);
Result<PreparedRequest> prepare_embed(const nlohmann::json& body, const BertModel& model);
Result<PreparedRequest> prepare_answer(const nlohmann::json& body, const BertModel& model);
Result<PreparedRequest> prepare_classify(const nlohmann::json& body, const BertModel& model);

}  // namespace podium
