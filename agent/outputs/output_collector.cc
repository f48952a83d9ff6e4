#include "agent/outputs/output_collector.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace podium {
namespace {

using namespace std::chrono_literals;
using CollectorClock = std::chrono::steady_clock;

constexpr auto kStopGrace = 2s;
constexpr std::chrono::milliseconds kLongestPause = 1min;

}  // namespace

struct OutputCollector::Shared {
  struct Waiting {
    Collection collection;
    int tries = 0;
    std::chrono::milliseconds pause{};
    CollectorClock::time_point due{};
  };

  Patience patience;
  std::stop_source stop;
  std::mutex mutex;  // guards the rest
  std::condition_variable_any changed;
  Done done;
  std::deque<Waiting> waiting;
  bool ended = false;

  // The first that is due; nothing once the agent leaves.
  std::optional<Waiting> next(std::unique_lock<std::mutex>& lock) {
    const std::stop_token token = stop.get_token();
    while (!token.stop_requested()) {
      const auto first = std::ranges::min_element(waiting, {}, &Waiting::due);
      if (first == waiting.end()) {
        changed.wait(lock, token, [this] { return !waiting.empty(); });
      } else if (first->due > CollectorClock::now()) {
        const std::size_t known = waiting.size();
        changed.wait_until(lock, token, first->due, [&] { return waiting.size() != known; });
      } else {
        Waiting taken = std::move(*first);
        waiting.erase(first);
        return taken;
      }
    }
    return std::nullopt;
  }

  // Nothing where it is to be tried again.
  std::optional<OutputsTold> try_to_collect(const Waiting& one) const {
    const std::stop_token token = stop.get_token();
    try {
      return OutputsTold{"info", describe_outputs(one.collection, collect_outputs(one.collection, token))};
    } catch (const OutputsRefused& refused) {
      return OutputsTold{"error", "its outputs are not collected: " + std::string(refused.what())};
    } catch (const std::exception& error) {
      if (token.stop_requested() || one.tries + 1 < patience.tries) return std::nullopt;
      return OutputsTold{"error", "its outputs are not collected: " + std::string(error.what()) +
                                      "; they stay in " + one.collection.folder.string() +
                                      " of its node as long as that does"};
    }
  }
};

OutputCollector::OutputCollector(Done done) : OutputCollector(std::move(done), Patience{}) {}

OutputCollector::OutputCollector(Done done, Patience patience) : shared_(std::make_shared<Shared>()) {
  shared_->done = std::move(done);
  shared_->patience = patience;
  thread_ = std::thread([shared = shared_] { run(*shared); });
}

OutputCollector::~OutputCollector() {
  shared_->stop.request_stop();
  std::unique_lock lock(shared_->mutex);
  shared_->done = nullptr;
  const bool ended = shared_->changed.wait_for(lock, kStopGrace, [this] { return shared_->ended; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
}

void OutputCollector::collect(Collection collection) {
  const std::lock_guard lock(shared_->mutex);
  shared_->waiting.push_back({std::move(collection), 0, shared_->patience.pause, {}});
  shared_->changed.notify_all();
}

void OutputCollector::run(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (std::optional<Shared::Waiting> one = shared.next(lock)) {
    lock.unlock();
    std::optional<OutputsTold> told = shared.try_to_collect(*one);
    lock.lock();
    if (told) {
      if (shared.done) shared.done(one->collection.task, std::move(*told));
      continue;
    }
    ++one->tries;
    one->due = CollectorClock::now() + one->pause;
    one->pause = std::min(2 * one->pause, kLongestPause);
    shared.waiting.push_back(std::move(*one));
  }
  shared.ended = true;
  shared.changed.notify_all();
}

}  // namespace podium
