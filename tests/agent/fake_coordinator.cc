#include "tests/agent/fake_coordinator.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/net/zstd.h"

namespace podium {

namespace asio = boost::asio;
using namespace std::chrono_literals;

void FakeCoordinator::start() {
  loop_ = std::make_unique<asio::io_context>(1);
  ServerOptions options;
  options.listen.port = port_;
  server_ = std::make_unique<HttpServer>(loop_->get_executor(), options,
                                         [this](ServerRequest request) { return serve(std::move(request)); });
  server_->start();
  port_ = server_->port();
  thread_ = std::thread([this] { loop_->run(); });
}

void FakeCoordinator::stop() {
  if (!thread_.joinable()) return;
  loop_->stop();
  thread_.join();
  server_.reset();
  loop_.reset();
}

void FakeCoordinator::order(std::vector<TaskOrder> tasks) {
  const std::lock_guard lock(mutex_);
  ++orders_.version;
  orders_.tasks = std::move(tasks);
}

void FakeCoordinator::set_lease(Duration lease, Duration orphan) {
  const std::lock_guard lock(mutex_);
  orders_.lease = lease;
  orders_.orphan = orphan;
}

void FakeCoordinator::set_clock(Time clock) {
  const std::lock_guard lock(mutex_);
  orders_.clock = clock;
}

std::int64_t FakeCoordinator::version() const {
  const std::lock_guard lock(mutex_);
  return orders_.version;
}

NodeReport FakeCoordinator::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

std::string FakeCoordinator::stream(TaskId task, StreamKind kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find({task, kind});
  return found == streams_.end() ? "" : found->second;
}

bool FakeCoordinator::is_final(TaskId task, StreamKind kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = final_.find({task, kind});
  return found != final_.end() && found->second;
}

void FakeCoordinator::lose_answers(int count) {
  const std::lock_guard lock(mutex_);
  lost_answers_ = count;
}

void FakeCoordinator::truncate(TaskId task, StreamKind kind, std::size_t size) {
  const std::lock_guard lock(mutex_);
  streams_.at({task, kind}).resize(size);
}

void FakeCoordinator::delay_streams(std::chrono::milliseconds delay) {
  const std::lock_guard lock(mutex_);
  stream_delay_ = delay;
}

bool FakeCoordinator::told_exit_early() const {
  const std::lock_guard lock(mutex_);
  return told_exit_early_;
}

int FakeCoordinator::repeated_bytes() const {
  const std::lock_guard lock(mutex_);
  return repeated_bytes_;
}

int FakeCoordinator::refused_requests() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

asio::awaitable<ServerReply> FakeCoordinator::serve(ServerRequest request) {
  if (request.headers.get("Authorization") != std::string("Bearer ") + kFakeToken) {
    const std::lock_guard lock(mutex_);
    ++refused_;
    ServerReply reply;
    reply.status = 401;
    reply.body = R"({"detail":"this is not the agents' token"})";
    co_return reply;
  }
  if (request.target == "/api/v1/nodes/node-1/sync") co_return co_await sync(std::move(request));
  if (request.target == "/api/v1/nodes/node-1/streams")
    co_return co_await delayed_streams(std::move(request));
  ServerReply reply;
  reply.status = 404;
  co_return reply;
}

asio::awaitable<ServerReply> FakeCoordinator::sync(ServerRequest request) {
  int mine = 0;
  {
    const std::lock_guard lock(mutex_);
    report_ = node_report_from_json(nlohmann::json::parse(request.body));
    mine = ++reports_;
    for (const TaskReport& task : report_.tasks)
      told_exit_early_ |= task.state == TaskState::exited && held_streams_ > 0;
  }
  asio::steady_timer timer(*loop_);
  const auto end = std::chrono::steady_clock::now() + 15s;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      const bool news = orders_.version != report_.orders_seen;
      if (news || mine != reports_ || std::chrono::steady_clock::now() >= end) {
        ServerReply reply;
        reply.body = to_json(orders_).dump();
        co_return reply;
      }
    }
    timer.expires_after(2ms);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<ServerReply> FakeCoordinator::delayed_streams(ServerRequest request) {
  std::chrono::milliseconds delay{0};
  {
    const std::lock_guard lock(mutex_);
    delay = stream_delay_;
    ++held_streams_;
  }
  if (delay > 0ms) {
    asio::steady_timer timer(*loop_, delay);
    co_await timer.async_wait(asio::use_awaitable);
  }
  {
    const std::lock_guard lock(mutex_);
    --held_streams_;
  }
  co_return streams(request);
}

ServerReply FakeCoordinator::streams(const ServerRequest& request) {
  const auto body = zstd_decompress(request.body, 8 << 20);
  const auto chunks = parse_chunks(*body);
  const std::lock_guard lock(mutex_);
  std::vector<StreamPosition> positions;
  for (const StreamChunk& chunk : *chunks) {
    std::string& have = streams_[{chunk.task, chunk.stream}];
    const auto begin = static_cast<std::size_t>(chunk.offset);
    if (chunk.after_gap && begin > have.size()) have.resize(begin, '?');
    if (begin <= have.size()) {  // otherwise a gap, answered with where to go back to
      const std::size_t known = std::min(chunk.bytes.size(), have.size() - begin);
      repeated_bytes_ += static_cast<int>(known);
      have += chunk.bytes.substr(known);
    }
    final_[{chunk.task, chunk.stream}] = chunk.final;
    positions.push_back({chunk.task, chunk.stream, static_cast<std::int64_t>(have.size())});
  }
  ServerReply reply;
  reply.body = positions_to_json(positions);
  if (lost_answers_ > 0) {
    --lost_answers_;
    reply.status = 500;
  }
  return reply;
}

}  // namespace podium
