#include "worker/comm/nccl_connection.h"

#include <thread>
#include <utility>

#include "worker/comm/communicator.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

// NCCL finishes most calls within this: to sleep would cost more.
constexpr auto kSpin = 200us;
constexpr auto kPoll = 50us;     // afterwards between two looks at a call that NCCL has not finished
constexpr auto kFarewell = 10s;  // that peers may take to leave in order

bool is_failure(nccl::Result result) { return result != nccl::kSuccess && result != nccl::kInProgress; }

}  // namespace

NcclConnection::NcclConnection(const NcclSetting& setting, const nccl::UniqueId& id, int rank, int size,
                               std::string name)
    : setting_(setting), name_(std::move(name)), stream_(setting.device.make_stream(StreamPriority::high)) {
  setting_.watchdog.check();
  nccl::Config config;
  config.blocking = 0;
  try {
    const nccl::Result begun = setting_.library.comm_init_rank_config(&comm_, size, id, rank, &config);
    settle(begun, Clock::now() + setting_.meeting_timeout);
  } catch (...) {
    abort();
    throw;
  }
  setting_.watchdog.add(*this);
}

NcclConnection::~NcclConnection() {
  setting_.watchdog.remove(*this);
  close();
}

std::shared_ptr<DeviceEvent> NcclConnection::put(const DeviceEvent& ready, const Call& call) {
  const std::lock_guard lock(mutex_);
  setting_.watchdog.check();
  stream_->wait_for(ready);
  settle(call(comm_, stream_->native()), Clock::now() + setting_.meeting_timeout);
  std::shared_ptr<DeviceEvent> done = stream_->record();
  under_way_.push_back({done, Clock::now()});
  return done;
}

// Until NCCL has finished a call. A failure of the network may be that of a peer, whom NCCL does not name.
void NcclConnection::settle(nccl::Result result, Clock::time_point deadline) {
  const Clock::time_point begin = Clock::now();
  while (result == nccl::kInProgress) {
    setting_.watchdog.check();
    const Clock::time_point now = Clock::now();
    if (now >= deadline) throw PeerLost(name_ + ": not all ranks have come in time");
    if (now - begin < kSpin)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kPoll);
    if (setting_.library.comm_get_async_error(comm_, &result) != nccl::kSuccess) break;
  }
  if (is_failure(result)) fail(result);
}

void NcclConnection::fail(nccl::Result result) {
  const std::string what = name_ + ": NCCL: " + setting_.library.get_error_string(result) + " (" +
                           setting_.library.get_last_error(comm_) + ")";
  if (result == nccl::kRemoteError || result == nccl::kSystemError) throw PeerLost(what);
  throw std::runtime_error(what + "; NCCL_DEBUG=INFO says more");
}

std::optional<std::string> NcclConnection::find_error() {
  const std::unique_lock lock(mutex_, std::try_to_lock);  // held: a call is under way, which looks by itself
  if (!lock || comm_ == nullptr) return std::nullopt;
  nccl::Result result = nccl::kSuccess;
  const nccl::Result asked = setting_.library.comm_get_async_error(comm_, &result);
  if (!is_failure(asked) && !is_failure(result)) return std::nullopt;
  return std::string(setting_.library.get_error_string(is_failure(asked) ? asked : result));
}

std::chrono::milliseconds NcclConnection::longest_wait() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return 0ms;
  const auto now = Clock::now();
  while (!under_way_.empty() && under_way_.front().done->reached()) {
    under_way_.pop_front();
    if (!under_way_.empty()) under_way_.front().since = now;  // until now it had to wait for its turn
  }
  if (under_way_.empty()) return 0ms;
  return std::chrono::duration_cast<std::chrono::milliseconds>(now - under_way_.front().since);
}

void NcclConnection::abort() {
  const std::lock_guard lock(mutex_);
  if (comm_ != nullptr) setting_.library.comm_abort(std::exchange(comm_, nullptr));
}

// In order: peers may still read what this rank has sent. Where they are gone, without them.
void NcclConnection::close() {
  if (comm_ == nullptr) return;
  try {
    settle(setting_.library.comm_finalize(comm_), Clock::now() + kFarewell);
    setting_.library.comm_destroy(comm_);
  } catch (const std::runtime_error&) {
    abort();
    setting_.watchdog.lose("not all ranks have left " + name_ + " in order");  // others would wait as long
  }
}

}  // namespace podium
