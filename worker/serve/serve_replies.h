// What the server tells about itself, and the forms of its replies.
#pragma once

#include <string>
#include <string_view>

#include "common/net/http_server.h"
#include "worker/serve/model_registry.h"

namespace podium {

bool is_json(std::string_view content_type);

ServerReply text_reply(std::string text);
ServerReply json_reply(std::string json);
ServerReply timed_out(const std::string& request_id);
ServerReply client_left(const std::string& request_id);
ServerReply model_failed(const std::string& request_id);

// "fill-mask, embed": all, or those that suit a model.
std::string endpoint_names(const LoadedModel* model = nullptr);

std::string list_models(const ModelRegistry& models);  // JSON
std::string list_loads(const ModelRegistry& models);   // JSON
ServerReply metrics_reply(const ModelRegistry& models, bool draining);

}  // namespace podium
