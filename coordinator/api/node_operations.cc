// POST /nodes/{node}/drain, resume and labels: read the body, ask the core, show the node as it is then.
#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

Error malformed(const std::string& message, const std::string& where) {
  return {ErrorCode::invalid, message, where};
}

// 9999-12-31; a time beyond it is a mistake in the unit.
constexpr std::int64_t kLatest = 253'402'300'799'999;

void read_time(const json& value, const std::string& where, std::optional<Time>& time, Errors& errors) {
  if (value.is_null()) return;
  if (value.is_number_integer() && value >= 0 && value <= kLatest)
    time = from_millis(value.get<std::int64_t>());
  else
    errors.push_back(malformed("must be milliseconds since 1970", where));
}

Result<Command> read_drain(const NodeId& node, const json& body) {
  DrainNode drain{node, "", {}, {}};
  Errors errors;
  for (const auto& [key, value] : body.items()) {
    if (key == "from_ms")
      read_time(value, "/from_ms", drain.from, errors);
    else if (key == "until_ms")
      read_time(value, "/until_ms", drain.until, errors);
    else if (key == "reason" && value.is_string())
      drain.reason = value.get<std::string>();
    else
      errors.push_back(malformed(key == "reason" ? "must be a string" : "is not known", "/" + key));
  }
  if (!errors.empty()) return errors;
  return Command(std::move(drain));
}

Result<Command> read_resume(const NodeId& node, const json& body) {
  if (!body.empty()) return malformed("is not known", "/" + body.begin().key());
  return Command(ResumeNode{node});
}

Result<Command> read_labels(const NodeId& node, const json& body) {
  const auto labels = body.find("labels");
  if (body.size() != 1 || labels == body.end() || !labels->is_object())
    return malformed("the body must be {\"labels\": {\"key\": \"value\", \"gone\": null}}", "");
  LabelNode command{node, {}};
  Errors errors;
  for (const auto& [key, value] : labels->items()) {
    if (value.is_null())
      command.labels[key] = std::nullopt;
    else if (value.is_string())
      command.labels[key] = value.get<std::string>();
    else
      errors.push_back(malformed("must be a string, or null to take the label back", "/labels/" + key));
  }
  if (!errors.empty()) return errors;
  return Command(std::move(command));
}

awaitable<ServerReply> operate(Api& api, Call call, Result<Command> (*read)(const NodeId&, const json&)) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const NodeId node{call.path[0]};
  const json body = json::parse(call.request.body, nullptr, false);
  if (!body.is_object()) co_return bad_request(call, "the body must be a JSON object");
  const Result<Command> command = read(node, body);
  if (!command) co_return problem(400, describe(command.errors()), call.request.id, command.errors());
  const Result<Events> events = co_await api.loop.run(*command);
  if (!events) co_return problem(events.errors(), call.request.id);
  co_return json_reply(200, node_json(*find_node(api.loop.state(), node)));
}

}  // namespace

awaitable<ServerReply> post_drain(Api& api, Call call) { return operate(api, std::move(call), read_drain); }
awaitable<ServerReply> post_resume(Api& api, Call call) { return operate(api, std::move(call), read_resume); }
awaitable<ServerReply> post_labels(Api& api, Call call) { return operate(api, std::move(call), read_labels); }

}  // namespace podium
