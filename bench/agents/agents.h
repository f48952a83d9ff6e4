// Agents that speak the sync protocol and run nothing: an ordered task is reported running at once and exited
// after a while. Thousands live in one process, on one thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/model/sync.h"
#include "common/net/http_client.h"

namespace podium {

class Agents {
 public:
  using Steady = std::chrono::steady_clock;

  // `count` agents with devices of the kind cpu, and `others` with as many of the kind gpu. A job runs for
  // `run_time` and up to as much again, by its number.
  Agents(boost::asio::io_context& io, Url coordinator, std::string token, int count, int others, int devices,
         Duration run_time);
  ~Agents();

  void start();  // their syncs, a few at a time
  std::size_t joined() const { return joined_; }

  // When the order to run the job's first task arrived.
  const std::map<JobId, Steady::time_point>& ordered() const { return ordered_; }
  // Milliseconds from the end of a node's tasks to the order of its next, of those that had a next.
  const std::vector<double>& next_orders() const { return next_orders_; }

 private:
  struct Agent;

  boost::asio::awaitable<void> run(Agent& agent);
  void follow(Agent& agent, const NodeOrders& orders);
  void end_due(Agent& agent);
  Duration run_time_of(JobId job) const;

  boost::asio::io_context& io_;
  const std::string token_;
  const Duration run_time_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::size_t joined_ = 0;
  std::map<JobId, Steady::time_point> ordered_;
  std::vector<double> next_orders_;
};

}  // namespace podium
