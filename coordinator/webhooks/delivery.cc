#include "coordinator/webhooks/delivery.h"

#include <chrono>

#include "common/net/token.h"

namespace podium {
namespace {

constexpr std::size_t kMostRead = 64 << 10;  // bytes of an answer

// The client's words begin with the address, whose path may be a secret.
std::string without_address(const std::string& text, const HttpRequest& request, const Url& url) {
  const std::string address = request.method + " " + url.origin() + request.target + ": ";
  return text.starts_with(address) ? text.substr(address.size()) : text;
}

}  // namespace

HttpRequest signed_request(const WebhookConfig& config, const NoticeText& notice, std::int64_t timestamp) {
  const std::string time = std::to_string(timestamp);
  HttpRequest request;
  request.method = "POST";
  request.target = config.url.target;
  request.body = notice.body;
  request.repeatable = true;  // the receiver knows a notice that it has by its id
  request.headers = {
      {"Content-Type", "application/json"},
      {"X-Podium-Event", notice.type},
      {"X-Podium-Delivery", notice.id},
      {"X-Podium-Timestamp", time},
      {"X-Podium-Signature", "sha256=" + hmac_sha256(config.secret, time + "." + notice.body)}};
  return request;
}

Delivery judge(const HttpResponse& response) {
  if (response.ok()) return {.ok = true, .status = response.status};
  const bool redirect = response.status >= 300 && response.status < 400;
  const bool down = response.status == 408 || response.status == 429 || response.status >= 500;
  return {false, response.status, down ? DeliveryFailure::down : DeliveryFailure::refused,
          "the receiver answered " + std::to_string(response.status) +
              (redirect ? ": redirects are not followed, so give the address that they lead to" : "")};
}

std::string make_client(boost::asio::any_io_executor executor, const WebhookConfig& config,
                        std::shared_ptr<HttpClient>& client) {
  try {
    client =
        std::make_shared<HttpClient>(std::move(executor), config.url, ClientOptions{config.ca, kMostRead});
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

boost::asio::awaitable<Delivery> deliver(HttpClient& client, const WebhookConfig& config, NoticeText notice) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const HttpRequest request =
      signed_request(config, notice, std::chrono::duration_cast<std::chrono::seconds>(now).count());
  Delivery delivery;
  try {
    delivery = judge(co_await client.request_status(request, config.timeout));
  } catch (const std::exception& error) {
    delivery.error = without_address(error.what(), request, config.url);
  }
  co_return delivery;
}

}  // namespace podium
