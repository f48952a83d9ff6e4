// Watches one job over the coordinator's live stream, through its restarts: reconnects, resumes by
// Last-Event-ID, and asks for the whole job after each reconnect, so that a coordinator without a stream is
// simply polled.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/connection.h"

namespace podium::cli {

struct LiveHandlers {
  std::function<bool(const nlohmann::json& job)> on_job;  // false: seen enough
  std::function<void(const nlohmann::json& metrics)> on_metrics;
  // Points may be missing between those that were told and the ones to come: whoever needs all of them asks
  // for them now.
  std::function<void()> on_reset;
  std::function<void(const std::string& why)> on_trouble;  // not connected just now
  std::function<void()> on_tick;                           // a few times a second
  // Twice a second, one at a time; may ask the coordinator.
  std::function<boost::asio::awaitable<void>(Connection&)> on_look;
};

// Exit::ok when on_job had enough, Exit::interrupted on SIGINT or SIGTERM. Throws Failure when there is no
// such job or the coordinator cannot be reached the first time.
Exit watch_job(const Client& client, std::int64_t id, const LiveHandlers& handlers);

}  // namespace podium::cli
