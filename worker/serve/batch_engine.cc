#include "worker/serve/batch_engine.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/logging.h"

namespace podium {

// Sequences that are computed together. A request is told its results as soon as all are there, be it in the
// midst of the batch.
class BatchEngine::Batch {
 public:
  Batch(BatchEngine& engine, std::vector<Waiting> waiting)
      : engine_(engine), waiting_(std::move(waiting)), open_(waiting_.size(), true), left_(waiting_.size()) {
    for (const Waiting& one : waiting_) {
      EngineRequest& request = one.of->request;
      engine_.meter_.add_wait(begin_ - request.arrived);
      tops_.push_back(request.top);
      sequences_.push_back(std::move(request.sequences[one.index]));
      tokens_ += static_cast<std::size_t>(sequences_.back().length());
    }
  }

  void compute() {
    try {
      engine_.compute_(
          waiting_.front().of->request.pass, sequences_, tops_,
          [this](std::size_t sequence, SequenceResult result) { give(sequence, std::move(result)); });
      PODIUM_CHECK(left_ == 0, "a pass gives a result for each sequence");
    } catch (const std::exception& error) {
      spdlog::error("{} of a batch of {} sequences could not be computed: {}", left_, waiting_.size(),
                    error.what());
      fail_open();
    }
  }

 private:
  void give(std::size_t sequence, SequenceResult result) {
    const Waiting& one = waiting_[sequence];
    if (result.failed) one.of->result.kind = EngineResult::Kind::failed;
    one.of->result.results[one.index] = std::move(result);
    close(sequence);
  }

  void fail_open() {
    for (std::size_t sequence = 0; sequence < open_.size(); ++sequence) {
      if (!open_[sequence]) continue;
      waiting_[sequence].of->result.kind = EngineResult::Kind::failed;
      close(sequence);
    }
  }

  // The batch is counted before the last of its requests is told.
  void close(std::size_t sequence) {
    open_[sequence] = false;
    if (--left_ == 0) engine_.add_computed(sequences_.size(), tokens_, ServeTime::clock::now() - begin_);
    const std::shared_ptr<Running>& running = waiting_[sequence].of;
    if (--running->open == 0) tell(running);
  }

  BatchEngine& engine_;
  const ServeTime begin_ = ServeTime::clock::now();
  std::vector<Waiting> waiting_;
  std::vector<TextSequence> sequences_;
  std::vector<int> tops_;
  std::size_t tokens_ = 0;
  std::vector<bool> open_;
  std::size_t left_;
};

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
  return queue_.size() + reserved_;
}

std::chrono::seconds BatchEngine::retry_after() const {
  const std::scoped_lock lock(mutex_);
  return speed_.time_of(queue_.tokens() + static_cast<std::int64_t>(reserved_) * usual_tokens_);
}

void BatchEngine::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (closing_) return;
    if (const Ended expired = expire(take(queue_.take_expired(ServeTime::clock::now()))); !expired.empty()) {
      lock.unlock();
      std::ranges::for_each(expired, tell);
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
      Batch(*this, std::move(batch)).compute();
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

void BatchEngine::add_computed(std::size_t sequences, std::size_t tokens, std::chrono::nanoseconds took) {
  meter_.add_batch(sequences, tokens, took);
  const std::scoped_lock lock(mutex_);
  speed_.add(tokens, took);
  usual_tokens_ = static_cast<std::int64_t>(tokens / sequences);
}

void BatchEngine::tell(const std::shared_ptr<Running>& ended) {
  ended->request.done(std::move(ended->result));
}

}  // namespace podium
