// The webhooks that operators configured: how far each is, and a trial of one.
#include "coordinator/webhooks/webhooks.h"

#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

json webhook_json(const WebhookStatus& status) {
  json events = json::array();
  for (const NoticeType type : status.types) events.push_back(to_string(type));
  return {{"name", status.name},
          {"address", status.address},
          {"events", std::move(events)},
          {"waiting", status.waiting},
          {"delivered", status.delivered},
          {"failed", status.failed},
          {"expired", status.expired},
          {"lost", status.lost},
          {"last_delivered_ms", millis_or_null(status.last_delivered)},
          {"failing", status.failing},
          {"error", status.error},
          {"failed_ms", millis_or_null(status.failed_at)}};
}

}  // namespace

awaitable<ServerReply> get_webhooks(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const std::vector<WebhookStatus> all = co_await api.webhooks.status();
  json list = json::array();
  for (const WebhookStatus& status : all) list.push_back(webhook_json(status));
  co_return json_reply(200, {{"webhooks", std::move(list)}});
}

awaitable<ServerReply> post_webhook_test(Api& api, Call call) {
  if (auto refusal = refuse_body(call)) co_return std::move(*refusal);
  const std::optional<Delivery> delivery =
      co_await api.webhooks.test(call.path[0], api.loop.state().cluster.id);
  if (!delivery) co_return no_such(call, "webhook", call.path[0]);
  co_return json_reply(200, {{"name", call.path[0]},
                             {"delivered", delivery->ok},
                             {"status", delivery->status == 0 ? json() : json(delivery->status)},
                             {"error", delivery->error}});
}

}  // namespace podium
