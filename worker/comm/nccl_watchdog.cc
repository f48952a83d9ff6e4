#include "worker/comm/nccl_watchdog.h"

#include <algorithm>

#include "worker/comm/communicator.h"
#include "worker/comm/nccl_connection.h"

namespace podium {
namespace {

constexpr std::chrono::milliseconds kBetweenWatches{100};

}  // namespace

NcclWatchdog::NcclWatchdog(std::chrono::milliseconds longest, std::chrono::milliseconds after_gone)
    : longest_(longest), after_gone_(std::min(longest, after_gone)), thread_([this] { run(); }) {}

NcclWatchdog::~NcclWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void NcclWatchdog::add(NcclConnection& connection) {
  const std::lock_guard lock(mutex_);
  connections_.insert(&connection);
}

void NcclWatchdog::remove(NcclConnection& connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(&connection);
}

void NcclWatchdog::peer_gone(const std::string& who) {
  const std::lock_guard lock(mutex_);
  if (gone_.empty()) gone_ = who;
}

void NcclWatchdog::lose(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (lost_) return;
  reason_ = reason;
  lost_ = true;  // before the aborts: a call that waits for NCCL gives up and makes way for them
  for (NcclConnection* connection : connections_) connection->abort();
}

void NcclWatchdog::check() const {
  if (lost_) throw PeerLost("another rank is lost: " + reason_);
}

void NcclWatchdog::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenWatches, [this] { return stopping_; })) {
    if (lost_) continue;
    const std::optional<std::string> trouble = look();
    lock.unlock();
    if (trouble) lose(*trouble);
    lock.lock();
  }
}

// Under mutex_.
std::optional<std::string> NcclWatchdog::look() {
  for (NcclConnection* connection : connections_) {
    if (auto error = connection->find_error()) return connection->name() + ": " + *error;
    const std::chrono::milliseconds waiting = connection->longest_wait();
    if (!gone_.empty() && waiting > after_gone_) return gone_ + " has gone";
    if (waiting > longest_)
      return connection->name() + ": no answer for " + std::to_string(waiting.count() / 1000) + " s";
  }
  return std::nullopt;
}

}  // namespace podium
