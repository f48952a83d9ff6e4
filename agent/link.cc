#include "agent/link.h"

#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "agent/core/order_check.h"
#include "common/model/codec.h"

namespace podium {
namespace {

namespace asio = boost::asio;
NodeOrders checked_orders(const std::string& body, const NodeId& node) {
  NodeOrders orders = node_orders_from_json(nlohmann::json::parse(body));
  if (const Errors errors = check_orders(orders, node); !errors.empty())
    throw std::runtime_error("the coordinator's orders are invalid and are not followed: " +
                             describe(errors));
  return orders;
}

}  // namespace

Link::Link(asio::any_io_executor executor, const CoordinatorConfig& coordinator, NodeDescription node,
           const NodeDevices& devices, PackageEnergy& energy, Supervisor& supervisor)
    : connection_(executor, coordinator, "/sync"),
      node_(std::move(node)),
      devices_(devices),
      energy_(energy),
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
    set_connected(false);
    co_await pause(connection_.failed(*failure));
  }
}

asio::awaitable<void> Link::sync() {
  node_.devices = devices_.reported();
  NodeReport report{node_,
                    supervisor_.reports(),
                    supervisor_.orders_seen(),
                    devices_.readings(),
                    !connected_,
                    supervisor_.cluster(),
                    ClockTelling{wall_clock_.now(), heard_, answered_},
                    supervisor_.highest_job()};
  report.ended = supervisor_.ended_attempts(report.interrupted);
  report.staging = supervisor_.staging();
  report.package_joules = energy_.look();
  const Headers headers{{"Content-Type", "application/json"}};
  const Time sent = supervisor_.now();
  const std::string answer = co_await connection_.post(headers, dump(to_json(report)), answer_timeout_);
  heard_ = wall_clock_.now();
  NodeOrders orders = checked_orders(answer, node_.id);
  answered_ = orders.clock;
  answer_timeout_ = lease::answer_timeout(orders.lease);
  supervisor_.follow(std::move(orders), sent);
  connection_.succeeded();
  if (!connected_) spdlog::info("in touch with the coordinator; orders {}", supervisor_.orders_seen());
  set_connected(true);
  co_await asio::post(asio::use_awaitable);  // what the orders start belongs into the next report
}

void Link::set_connected(bool connected) {
  if (std::exchange(connected_, connected) != connected) supervisor_.touch_changed();
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
