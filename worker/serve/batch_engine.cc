#include "worker/serve/batch_engine.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/base/logging.h"

namespace podium {
namespace {

constexpr double kNewestShare = 0.2;  // of the newest batch in the speed that is known

}  // namespace

BatchEngine::BatchEngine(ComputePass compute, const BatchRules& rules, ServeMeter& meter)
    : compute_(std::move(compute)), rules_(rules), meter_(meter), queue_(rules), thread_([this] { run(); }) {}

BatchEngine::~BatchEngine() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<QueueRoom> BatchEngine::reserve() {
  const std::scoped_lock lock(mutex_);
  if (!queue_.has_room(reserved_ + 1)) return std::nullopt;
  ++reserved_;
  return QueueRoom([this] {
    const std::scoped_lock lock_of_release(mutex_);
    --reserved_;
  });
}

std::optional<std::uint64_t> BatchEngine::submit(EngineRequest request, [[maybe_unused]] QueueRoom room) {
  PODIUM_CHECK(!request.sequences.empty(), "a request has a sequence");
  auto running = std::make_shared<Running>();
  running->request = std::move(request);
  const EngineRequest& kept = running->request;
  running->open = kept.sequences.size();
  running->result.results.resize(running->open);
  {
    const std::scoped_lock lock(mutex_);
    if (!queue_.has_room(reserved_ - 1 + kept.sequences.size())) return std::nullopt;
    running->number = next_number_ + 1;
    for (std::size_t i = 0; i < kept.sequences.size(); ++i) {
      queue_.add({++next_number_, static_cast<int>(kept.pass), kept.sequences[i].length(), kept.arrived,
                  kept.deadline});
      waiting_[next_number_] = {running, i};
    }
  }
  changed_.notify_all();
  return running->number;
}

void BatchEngine::cancel(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint64_t> gone;
  for (const auto& [sequence, waiting] : waiting_)
    if (waiting.of->number == number) gone.push_back(sequence);
  queue_.drop(gone);
  take(gone);
}

bool BatchEngine::is_computing() const {
  const std::scoped_lock lock(mutex_);
  return computing_;
}

std::size_t BatchEngine::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

std::chrono::seconds BatchEngine::retry_after() const {
  const std::scoped_lock lock(mutex_);
  if (tokens_per_second_ <= 0) return std::chrono::seconds(1);
  const double seconds = static_cast<double>(queue_.tokens()) / tokens_per_second_;
  return std::chrono::seconds(std::llround(std::clamp(std::ceil(seconds), 1.0, 60.0)));
}

void BatchEngine::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (closing_) return;
    if (const Ended expired = expire(take(queue_.take_expired(ServeTime::clock::now()))); !expired.empty()) {
      lock.unlock();
      tell(expired);
      lock.lock();
      continue;
    }
    const std::optional<ServeTime> start = queue_.next_start();
    if (!start) {
      changed_.wait(lock);
    } else if (*start > ServeTime::clock::now()) {
      changed_.wait_until(lock, *start);
    } else {
      std::vector<Waiting> batch = take(queue_.take_batch());
      computing_ = true;
      lock.unlock();
      tell(compute(std::move(batch)));
      lock.lock();
      computing_ = false;
      queue_.batch_ended(ServeTime::clock::now());
    }
  }
}

std::vector<BatchEngine::Waiting> BatchEngine::take(const std::vector<std::uint64_t>& numbers) {
  std::vector<Waiting> taken;
  for (const std::uint64_t number : numbers) taken.push_back(waiting_.extract(number).mapped());
  return taken;
}

// All that waits of a request expires together, after which nothing of it is open. What a batch before has
// computed of it is dropped.
BatchEngine::Ended BatchEngine::expire(const std::vector<Waiting>& expired) {
  Ended ended;
  for (const Waiting& waiting : expired) {
    Running& running = *waiting.of;
    running.result.kind = EngineResult::Kind::expired;
    if (--running.open == 0) ended.push_back(waiting.of);
  }
  return ended;
}

BatchEngine::Ended BatchEngine::compute(std::vector<Waiting> batch) {
  const ServeTime begin = ServeTime::clock::now();
  std::vector<TextSequence> sequences;
  std::size_t tokens = 0;
  std::vector<int> tops;
  for (const Waiting& waiting : batch) {
    EngineRequest& request = waiting.of->request;
    meter_.add_wait(begin - request.arrived);
    tops.push_back(request.top);
    sequences.push_back(std::move(request.sequences[waiting.index]));
    tokens += static_cast<std::size_t>(sequences.back().length());
  }
  std::vector<SequenceResult> results;
  try {
    results = compute_(batch.front().of->request.pass, sequences, tops);
    PODIUM_CHECK(results.size() == sequences.size(), "a pass has a result for each sequence");
  } catch (const std::exception& error) {
    spdlog::error("a batch of {} sequences could not be computed: {}", sequences.size(), error.what());
    results.clear();
  }
  const std::chrono::nanoseconds took = ServeTime::clock::now() - begin;
  meter_.add_batch(sequences.size(), tokens, took);
  learn_speed(tokens, took);
  return keep_results(batch, std::move(results));
}

BatchEngine::Ended BatchEngine::keep_results(const std::vector<Waiting>& batch,
                                             std::vector<SequenceResult> results) {
  Ended ended;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Running& running = *batch[i].of;
    if (results.empty())
      running.result.kind = EngineResult::Kind::failed;
    else
      running.result.results[batch[i].index] = std::move(results[i]);
    if (--running.open == 0) ended.push_back(batch[i].of);
  }
  return ended;
}

void BatchEngine::learn_speed(std::size_t tokens, std::chrono::nanoseconds took) {
  const double speed =
      static_cast<double>(tokens) / std::max(1e-9, std::chrono::duration<double>(took).count());
  const std::scoped_lock lock(mutex_);
  tokens_per_second_ =
      tokens_per_second_ <= 0 ? speed : (1 - kNewestShare) * tokens_per_second_ + kNewestShare * speed;
}

void BatchEngine::tell(const Ended& ended) {
  for (const std::shared_ptr<Running>& running : ended) running->request.done(std::move(running->result));
}

}  // namespace podium
