#include "agent/link.h"

#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/core/order_check.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto kAnswerTimeout = 25s;  // the coordinator holds its answer for up to 15 s

NodeOrders checked_orders(const std::string& body, const NodeId& node) {
  NodeOrders orders = node_orders_from_json(nlohmann::json::parse(body));
  if (const Errors errors = check_orders(orders, node); !errors.empty())
    throw std::runtime_error("the coordinator's orders make no sense and are not followed: " +
                             describe(errors));
  return orders;
}

}  // namespace

Link::Link(asio::any_io_executor executor, const CoordinatorConfig& coordinator, NodeDescription node,
           const NodeDevices& devices, Supervisor& supervisor)
    : connection_(executor, coordinator, "/sync"),
      node_(std::move(node)),
      devices_(devices),
      supervisor_(supervisor),
      timer_(executor) {}

asio::awaitable<void> Link::run() {
  while (true) {
    std::optional<std::string> failure;
    try {
      outdated_ = false;
      waiting_ = true;
      co_await sync();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    waiting_ = false;
    if (!failure || outdated_) continue;
    connected_ = false;
    co_await pause(connection_.failed(*failure));
  }
}

asio::awaitable<void> Link::sync() {
  node_.devices = devices_.list();
  const NodeReport report{node_, supervisor_.reports(), supervisor_.orders_seen(), devices_.readings()};
  const Headers headers{{"Content-Type", "application/json"}};
  const std::string answer = co_await connection_.post(headers, to_json(report).dump(), kAnswerTimeout);
  NodeOrders orders = checked_orders(answer, node_.id);
  connection_.succeeded();
  if (!connected_) spdlog::info("in touch with the coordinator; orders {}", orders.version);
  connected_ = true;
  supervisor_.follow(std::move(orders));
  co_await asio::post(asio::use_awaitable);  // what the orders start belongs into the next report
}

void Link::report_now() {
  if (!waiting_) return;  // the next report is yet to be written
  outdated_ = true;
  connection_.cancel();
}

asio::awaitable<void> Link::pause(std::chrono::milliseconds duration) {
  timer_.expires_after(duration);
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace podium
