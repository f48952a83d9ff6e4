// One replica as the gateway sees it: kept connections, requests under way, and whether it is ready, which is
// asked once a second. On the gateway's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "common/net/http_client.h"
#include "coordinator/serving/relay.h"
#include "coordinator/serving/replica.h"

namespace podium {

class ReplicaLink : public std::enable_shared_from_this<ReplicaLink> {
 public:
  ReplicaLink(boost::asio::any_io_executor executor, ReplicaPlace place);

  void start();  // to look after it
  // No more requests. Those under way finish, unless it falls silent.
  void retire();
  // As retire(), and breaks off those under way.
  void close();
  // It has refused a request as one that is not ready: it is asked again whether it is.
  void doubt();

  const ReplicaPlace& place() const { return place_; }
  bool takes_requests() const { return ready_ && !retired_; }
  int in_flight() const { return static_cast<int>(busy_.size()); }
  ReplicaHealth health() const;

  // Sends the request, and hands on what is answered.
  void ask(HttpRequest request, std::shared_ptr<Relay> relay);

 private:
  using SteadyClock = std::chrono::steady_clock;

  boost::asio::awaitable<void> look_after(std::shared_ptr<ReplicaLink> self);
  boost::asio::awaitable<void> look();
  boost::asio::awaitable<void> carry(std::shared_ptr<ReplicaLink> self, HttpRequest request,
                                     std::shared_ptr<Relay> relay);
  std::shared_ptr<HttpClient> take_client();
  void break_off();

  boost::asio::any_io_executor executor_;
  ReplicaPlace place_;
  bool ready_ = false;
  bool retired_ = false;
  bool closed_ = false;
  ReplicaHealth told_;  // what it says of itself
  SteadyClock::time_point answered_ = SteadyClock::now();
  HttpClient looks_;
  boost::asio::steady_timer next_look_;
  std::vector<std::shared_ptr<HttpClient>> idle_;
  std::set<std::shared_ptr<HttpClient>> busy_;
};

}  // namespace podium
