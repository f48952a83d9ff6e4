// One attempt to deliver a notice: what is sent, and what an answer means.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "common/net/http_client.h"
#include "coordinator/store/webhook_rows.h"
#include "coordinator/webhooks/delivery_queue.h"
#include "coordinator/webhooks/webhook_config.h"

namespace podium {

struct Delivery {
  bool ok = false;
  int status = 0;                                   // 0: no answer arrived
  DeliveryFailure failure = DeliveryFailure::down;  // unless ok
  std::string error = {};                           // "" when ok; names neither the address nor the secret
};

// POST with X-Podium-Event, -Delivery, -Timestamp (seconds since 1970) and -Signature, which is "sha256=" and
// the HMAC-SHA256 of "<timestamp>.<body>" under the secret.
HttpRequest signed_request(const WebhookConfig& config, const NoticeText& notice, std::int64_t timestamp);

// Whether the notice is delivered: 2xx alone says so. Redirects are not followed. 408, 429 and 5xx say that
// the receiver is down.
Delivery judge(const HttpResponse& response);

// Why there is no client, such as a file of authorities that is none; "" once there is.
std::string make_client(boost::asio::any_io_executor executor, const WebhookConfig& config,
                        std::shared_ptr<HttpClient>& client);

// Does not throw. The status of an answer decides, whatever becomes of its body.
boost::asio::awaitable<Delivery> deliver(HttpClient& client, const WebhookConfig& config, NoticeText notice);

}  // namespace podium
