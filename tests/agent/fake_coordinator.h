// The coordinator's side of the two agent endpoints, with faults to order. Holds syncs and keeps streams as
// docs/protocols.md says; runs on a thread of its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/model/stream_chunk.h"
#include "common/model/sync.h"
#include "common/net/http_server.h"

namespace podium {

inline constexpr char kFakeToken[] = "token-of-the-fake-coordinator";

class FakeCoordinator {
 public:
  FakeCoordinator() { start(); }
  ~FakeCoordinator() { stop(); }

  // An outage: connections break, and the same port opens again with start(). What it holds survives.
  void stop();
  void start();
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void order(std::vector<TaskOrder> tasks);
  void set_lease(Duration lease, Duration orphan = {});
  void set_clock(Time clock);  // in every answer from now on

  std::int64_t version() const;  // of the orders
  NodeReport report() const;     // the newest
  std::string stream(TaskId task, StreamKind kind) const;
  bool is_final(TaskId task, StreamKind kind) const;  // its last chunk said so

  // The next `count` stream requests are taken in, but answered with 500.
  void lose_answers(int count);
  // Forgets the stream's bytes from `size` on, as one restored from a backup would.
  void truncate(TaskId task, StreamKind kind, std::size_t size);
  // From now on every answer to /streams waits so long.
  void delay_streams(std::chrono::milliseconds delay);
  // A report said that a task had exited while an answer to /streams was held back.
  bool told_exit_early() const;
  int repeated_bytes() const;    // bytes that came again although they were here
  int refused_requests() const;  // for their token

 private:
  using StreamKey = std::pair<TaskId, StreamKind>;

  boost::asio::awaitable<ServerReply> serve(ServerRequest request);
  boost::asio::awaitable<ServerReply> sync(ServerRequest request);
  boost::asio::awaitable<ServerReply> delayed_streams(ServerRequest request);
  ServerReply streams(const ServerRequest& request);

  mutable std::mutex mutex_;
  NodeOrders orders_{.version = 1};
  NodeReport report_;
  int reports_ = 0;
  std::map<StreamKey, std::string> streams_;
  std::map<StreamKey, bool> final_;
  int lost_answers_ = 0;
  std::chrono::milliseconds stream_delay_{0};
  int held_streams_ = 0;
  bool told_exit_early_ = false;
  int repeated_bytes_ = 0;
  int refused_ = 0;

  std::uint16_t port_ = 0;
  std::unique_ptr<boost::asio::io_context> loop_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace podium
