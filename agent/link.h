// The agent's side of the sync: one request is always open, with the whole report up and the whole orders
// down. A change on the node cancels it and sends the new report at once.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/coordinator.h"
#include "agent/device/package_energy.h"
#include "agent/supervisor.h"

namespace podium {

class Link {
 public:
  // Reports `node` with the devices that `devices` has at that time.
  Link(boost::asio::any_io_executor executor, const CoordinatorConfig& coordinator, NodeDescription node,
       const NodeDevices& devices, PackageEnergy& energy, Supervisor& supervisor);

  boost::asio::awaitable<void> run();  // until the executor stops

  void report_now();  // call when the report has changed

  bool connected() const { return connected_; }  // whether the last sync was answered

 private:
  boost::asio::awaitable<void> sync();
  void set_connected(bool connected);
  boost::asio::awaitable<void> pause(std::chrono::milliseconds duration);

  CoordinatorConnection connection_;
  NodeDescription node_;
  const NodeDevices& devices_;
  PackageEnergy& energy_;
  Supervisor& supervisor_;
  boost::asio::steady_timer timer_;
  Duration answer_timeout_ = lease::answer_timeout(lease::kUsual);
  SystemClock wall_clock_;
  Time heard_{}, answered_{};  // of the last answer: NodeReport::clock
  bool waiting_ = false;       // for the answer to a report
  bool outdated_ = false;      // that report
  bool connected_ = false;
};

}  // namespace podium
