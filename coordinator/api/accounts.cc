#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/spec/json_body.h"
#include "common/spec/source_map.h"
#include "coordinator/api/account_figures.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/policies/policy.h"
#include "coordinator/loop/work_pool.h"

namespace podium {
namespace {

using nlohmann::json;

json account_json(const ClusterState& state, const std::string& name,
                  const std::map<std::string, AccountFigures>& by_kind) {
  const AccountRules& rules = rules_of(state, name);
  json usage = json::object();
  for (const auto& [kind, figures] : by_kind)
    usage[kind] = {{"devices", figures.devices},
                   {"borrowed", figures.borrowed},
                   {"device_seconds", figures.device_seconds},
                   {"factor", figures.factor},
                   {"waiting_jobs", figures.waiting_jobs},
                   {"waiting_devices", figures.waiting_devices}};
  return {{"account", name},
          {"share", rules.share},
          {"quota", rules.quota},
          {"limit", rules.limit},
          {"usage", std::move(usage)}};
}

// "gpu": 64 sets, "gpu": null lifts.
std::map<std::string, std::optional<int>> devices_of(const json& body, const char* key, Errors& errors) {
  std::map<std::string, std::optional<int>> devices;
  if (!body.contains(key)) return devices;
  const std::string where = std::string("/") + key;
  if (!body[key].is_object()) refuse(errors, "must be devices by kind", where);
  if (!body[key].is_object()) return devices;
  for (const auto& [kind, number] : body[key].items())
    if (number.is_null())
      devices[kind] = std::nullopt;
    else if (number.is_number_integer())
      devices[kind] = static_cast<int>(std::clamp<std::int64_t>(number.get<std::int64_t>(), -1, INT32_MAX));
    else
      refuse(errors, "must be a whole number, or null", where + "/" + pointer_step(kind));
  return devices;
}

Result<ChangeAccount> parse_account_change(const std::string& account, const std::string& text) {
  const Result<json> parsed = parse_object(text);
  if (!parsed) return parsed.errors();
  const json& body = *parsed;
  Errors errors;
  refuse_unknown(body, {"share", "quota", "limit"}, errors);
  ChangeAccount change{account, {}, devices_of(body, "quota", errors), devices_of(body, "limit", errors)};
  if (body.contains("share") && !body["share"].is_number_integer())
    refuse(errors, "must be a whole number", "/share");
  else if (body.contains("share"))
    change.share =
        static_cast<int>(std::clamp<std::int64_t>(body["share"].get<std::int64_t>(), -1, INT32_MAX));
  if (!errors.empty()) return errors;
  return change;
}

}  // namespace

awaitable<ServerReply> get_accounts(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const AccountReport report = co_await account_figures(api);
  const ClusterState& state = api.loop.state();
  json accounts = json::array();
  for (const auto& [name, by_kind] : report) accounts.push_back(account_json(state, name, by_kind));
  const json body{{"policy", policy_of(state.scheduling.policy).name()},
                  {"half_life_seconds", std::chrono::duration<double>(state.scheduling.half_life).count()},
                  {"accounts", std::move(accounts)}};
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_account(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  AccountReport report = co_await account_figures(api);
  const auto found = report.find(call.path[0]);
  if (found == report.end()) co_return no_such(call, "account", call.path[0]);
  const json body = account_json(api.loop.state(), found->first, found->second);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

awaitable<ServerReply> post_account(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<ChangeAccount> change = parse_account_change(call.path[0], call.request.body);
  if (!change) co_return bad_request(call, change.errors());
  const Command command = *change;
  const Result<Events> events = co_await api.loop.run(command);
  if (!events) co_return problem(events.errors(), call.request.id);
  AccountReport report;
  try {
    report = co_await account_figures(api);
  } catch (const Busy&) {
    // The change has taken effect, and is answered without what the account uses.
  }
  json body = account_json(api.loop.state(), call.path[0], report[call.path[0]]);
  body["warnings"] = account_warnings(api.loop.state(), call.path[0]);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

awaitable<ServerReply> remove_account(Api& api, Call call) {
  const Command command = DeleteAccount{call.path[0]};
  const Result<Events> events = co_await api.loop.run(command);
  if (!events) co_return problem(events.errors(), call.request.id);
  ServerReply reply;
  reply.status = 204;
  co_return reply;
}

}  // namespace podium
