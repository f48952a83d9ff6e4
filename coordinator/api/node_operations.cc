// POST /nodes/{node}/drain, resume, reserve, unreserve, labels and adopt: read the body, ask the core, show
// the node as it is then.
#include <nlohmann/json.hpp>

#include "common/spec/json_body.h"
#include "common/spec/source_map.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

// 9999-12-31; a time beyond it is a mistake in the unit.
constexpr std::int64_t kLatest = 253'402'300'799'999;

void read_time(const json& value, const std::string& where, std::optional<Time>& time, Errors& errors) {
  if (value.is_null()) return;
  if (value.is_number_integer() && value >= 0 && value <= kLatest)
    time = from_millis(value.get<std::int64_t>());
  else
    refuse(errors, "must be milliseconds since 1970", where);
}

void read_text(const json& value, const std::string& where, std::string& text, Errors& errors) {
  if (value.is_string())
    text = value.get<std::string>();
  else
    refuse(errors, "must be a string", where);
}

// The reason and the times, which drains and reservations share.
template <class Operation>
void read_window(const std::string& key, const json& value, Operation& operation, Errors& errors) {
  if (key == "from_ms")
    read_time(value, "/from_ms", operation.from, errors);
  else if (key == "until_ms")
    read_time(value, "/until_ms", operation.until, errors);
  else if (key == "reason")
    read_text(value, "/reason", operation.reason, errors);
}

Result<Command> read_drain(const NodeId& node, const json& body) {
  DrainNode drain{node, "", {}, {}};
  Errors errors;
  refuse_unknown(body, {"from_ms", "until_ms", "reason"}, errors);
  for (const auto& [key, value] : body.items()) read_window(key, value, drain, errors);
  if (!errors.empty()) return errors;
  return Command(std::move(drain));
}

Result<Command> read_reserve(const NodeId& node, const json& body) {
  ReserveNode reserve{node, "", "", {}, {}};
  Errors errors;
  need(body, "account", "the account whose jobs may start", errors);
  refuse_unknown(body, {"account", "from_ms", "until_ms", "reason"}, errors);
  for (const auto& [key, value] : body.items()) {
    if (key == "account")
      read_text(value, "/account", reserve.account, errors);
    else
      read_window(key, value, reserve, errors);
  }
  if (!errors.empty()) return errors;
  return Command(std::move(reserve));
}

template <class Operation>
Result<Command> read_empty(const NodeId& node, const json& body) {
  Errors errors;
  refuse_unknown(body, {}, errors);
  if (!errors.empty()) return errors;
  return Command(Operation{node});
}

Result<Command> read_labels(const NodeId& node, const json& body) {
  Errors errors;
  need(body, "labels", "an object such as {\"rack\": \"r7\", \"gone\": null}", errors);
  refuse_unknown(body, {"labels"}, errors);
  if (!errors.empty()) return errors;
  const json& labels = body.at("labels");
  if (!labels.is_object())
    return malformed("must be an object such as {\"rack\": \"r7\", \"gone\": null}", "/labels");
  LabelNode command{node, {}};
  for (const auto& [key, value] : labels.items()) {
    if (value.is_null())
      command.labels[key] = std::nullopt;
    else if (value.is_string())
      command.labels[key] = value.get<std::string>();
    else
      refuse(errors, "must be a string, or null to remove the label", "/labels/" + pointer_step(key));
  }
  if (!errors.empty()) return errors;
  return Command(std::move(command));
}

Result<Command> read_adopt(const NodeId& node, const json& body) {
  AdoptNode adopt{node, false};
  Errors errors;
  refuse_unknown(body, {"stop"}, errors);
  if (const auto stop = body.find("stop"); stop != body.end()) {
    if (stop->is_boolean())
      adopt.stop = stop->get<bool>();
    else
      refuse(errors, "must be true or false", "/stop");
  }
  if (!errors.empty()) return errors;
  return Command(std::move(adopt));
}

awaitable<ServerReply> operate_on_node(Api& api, Call call,
                                       Result<Command> (*read)(const NodeId&, const json&)) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const NodeId node{call.path[0]};
  const Result<json> body = parse_object(call.request.body);
  if (!body) co_return bad_request(call, body.errors());
  const Result<Command> command = read(node, *body);
  if (!command) co_return bad_request(call, command.errors());
  const Result<Events> events = co_await api.loop.run(*command);
  if (!events) co_return problem(events.errors(), call.request.id);
  const Node& changed = *find_node(api.loop.state(), node);
  co_return json_reply(200, node_json(changed, api.feed.has_heard(node), api.live.take_id()));
}

}  // namespace

awaitable<ServerReply> post_drain(Api& api, Call call) {
  return operate_on_node(api, std::move(call), read_drain);
}
awaitable<ServerReply> post_resume(Api& api, Call call) {
  return operate_on_node(api, std::move(call), read_empty<ResumeNode>);
}
awaitable<ServerReply> post_reserve(Api& api, Call call) {
  return operate_on_node(api, std::move(call), read_reserve);
}
awaitable<ServerReply> post_unreserve(Api& api, Call call) {
  return operate_on_node(api, std::move(call), read_empty<UnreserveNode>);
}
awaitable<ServerReply> post_adopt(Api& api, Call call) {
  return operate_on_node(api, std::move(call), read_adopt);
}
awaitable<ServerReply> post_labels(Api& api, Call call) {
  return operate_on_node(api, std::move(call), read_labels);
}

}  // namespace podium
