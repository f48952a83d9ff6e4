#include "worker/comm/peer_wait.h"

#include <gloo/common/error.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>

#include "worker/comm/communicator.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

std::string seconds(steady_clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

PeerWaits::PeerWaits(std::chrono::milliseconds long_wait, Tell tell)
    : long_wait_(long_wait), tell_(std::move(tell)) {
  if (tell_) thread_ = std::thread([this] { run(); });
}

PeerWaits::~PeerWaits() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PeerWaits::add(const PeerWait& wait) {
  const std::lock_guard lock(mutex_);
  waits_.emplace(&wait, Time());
}

void PeerWaits::remove(const PeerWait& wait) {
  const std::lock_guard lock(mutex_);
  waits_.erase(&wait);
}

void PeerWaits::lose(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (first_reason_.empty()) first_reason_ = reason;
  throw PeerLost(first_reason_);
}

void PeerWaits::run() {
  const auto between_looks = std::min(std::chrono::milliseconds(1000), long_wait_ / 2);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between_looks, [this] { return stopping_; })) {
    const std::vector<std::string> messages = find_long_waits();
    lock.unlock();
    for (const std::string& message : messages) tell_(message);
    lock.lock();
  }
}

// Under mutex_.
std::vector<std::string> PeerWaits::find_long_waits() {
  std::vector<std::string> messages;
  for (auto& [wait, told] : waits_) {
    const auto current = wait->current();
    if (!current || current->since == told) continue;
    const auto waited = steady_clock::now() - current->since;
    if (waited < long_wait_) continue;
    told = current->since;
    messages.push_back("waiting for rank " + std::to_string(current->rank) + " since " + seconds(waited) +
                       " (" + wait->what() + ")");
  }
  return messages;
}

PeerWait::PeerWait(PeerWaits& waits, std::vector<int> members, std::string what)
    : waits_(waits), members_(std::move(members)), what_(std::move(what)) {
  waits_.add(*this);
}

PeerWait::~PeerWait() { waits_.remove(*this); }

template <class Wait>
void PeerWait::wait(int peer, std::chrono::milliseconds timeout, const Wait& wait) {
  const auto begin = steady_clock::now();
  const int rank = members_[static_cast<std::size_t>(peer)];
  since_ = begin.time_since_epoch().count();
  peer_ = rank;
  std::string reason;
  try {
    if (!wait()) reason = "the connection was lost before";
  } catch (const gloo::Exception& error) {
    reason = error.what();
  }
  peer_ = -1;
  if (reason.empty()) return;
  const auto waited = steady_clock::now() - begin;
  waits_.lose(waited >= timeout ? "timed out waiting for rank " + std::to_string(rank) +
                                      ", of which nothing came for " + seconds(waited) + " (" + what_ + ")"
                                : "lost rank " + std::to_string(rank) + " (" + what_ + "): " + reason);
}

void PeerWait::received(gloo::transport::UnboundBuffer& buffer, int peer, std::chrono::milliseconds timeout) {
  wait(peer, timeout, [&] { return buffer.waitRecv(timeout); });
}

void PeerWait::sent(gloo::transport::UnboundBuffer& buffer, int peer, std::chrono::milliseconds timeout) {
  wait(peer, timeout, [&] { return buffer.waitSend(timeout); });
}

std::optional<PeerWait::Current> PeerWait::current() const {
  const int rank = peer_;
  const steady_clock::time_point since{steady_clock::duration(since_)};
  if (rank < 0 || peer_ != rank) return std::nullopt;
  return Current{rank, since};
}

}  // namespace podium
