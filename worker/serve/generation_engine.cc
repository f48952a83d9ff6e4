#include "worker/serve/generation_engine.h"

#include <algorithm>
#include <utility>

#include "common/base/logging.h"

namespace podium {
namespace {

std::string reason_of(const std::exception_ptr& failed) {
  try {
    std::rethrow_exception(failed);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

GenerationEngine::GenerationEngine(GenerationSession& session, const BpeTokenizer& tokenizer,
                                   std::size_t max_waiting, ServeMeter& meter)
    : max_waiting_(max_waiting),
      meter_(meter),
      batch_(session, tokenizer,
             {[this](std::size_t number, std::string_view text) {
                going_.at(number)->on_text(std::string(text));
              },
              [this](std::size_t number, const Generation& done) {
                going_.extract(number).mapped()->on_end({GenerationEnded::Kind::done, done});
              },
              [this](std::size_t number, const std::exception_ptr& why) { fail(number, why); }}),
      thread_([this] { run(); }) {}

GenerationEngine::~GenerationEngine() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<QueueRoom> GenerationEngine::reserve() {
  const std::scoped_lock lock(mutex_);
  if (waiting_.size() + reserved_ >= max_waiting_) return std::nullopt;
  ++reserved_;
  return QueueRoom([this] {
    const std::scoped_lock lock_of_release(mutex_);
    --reserved_;
  });
}

std::size_t GenerationEngine::submit(GenerationTask task, [[maybe_unused]] QueueRoom room) {
  auto kept = std::make_shared<GenerationTask>(std::move(task));
  std::size_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = ++next_number_;
    waiting_.emplace_back(number, std::move(kept));
  }
  changed_.notify_all();
  return number;
}

void GenerationEngine::cancel(std::size_t number) {
  const std::scoped_lock lock(mutex_);
  cancelled_.push_back(number);
  changed_.notify_all();
}

bool GenerationEngine::is_computing() const {
  const std::scoped_lock lock(mutex_);
  return computing_;
}

std::size_t GenerationEngine::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size() + reserved_;
}

void GenerationEngine::run() {
  while (true) {
    std::vector<Numbered> begin, late;
    {
      std::unique_lock lock(mutex_);
      computing_ = false;
      changed_.wait(lock, [&] { return closing_ || !waiting_.empty() || !going_.empty(); });
      if (closing_) return;
      computing_ = true;
      remove_cancelled();
      late = take_late(ServeTime::clock::now());
      begin = take_next();
    }
    for (const Numbered& one : late) one.task->on_end({GenerationEnded::Kind::expired, {}});
    try {
      compute(begin);
    } catch (const std::exception& error) {
      spdlog::error("a step of {} texts could not be generated: {}", going_.size(), error.what());
      fail_all();
    }
  }
}

// Under the lock. What is cancelled neither waits nor goes on.
void GenerationEngine::remove_cancelled() {
  for (const std::size_t number : cancelled_) {
    std::erase_if(waiting_, [&](const Numbered& one) { return one.number == number; });
    if (going_.erase(number) > 0) batch_.leave(number);
  }
  cancelled_.clear();
}

// Under the lock.
std::vector<GenerationEngine::Numbered> GenerationEngine::take_late(ServeTime now) {
  std::vector<Numbered> late;
  const auto is_late = [&](const Numbered& one) { return one.task->deadline <= now; };
  std::ranges::copy_if(waiting_, std::back_inserter(late), is_late);
  std::erase_if(waiting_, is_late);
  for (const auto& [number, task] : going_)
    if (task->deadline <= now) late.push_back({number, task});
  for (const Numbered& one : late)
    if (going_.erase(one.number) > 0) batch_.leave(one.number);
  return late;
}

// Under the lock. One begins a step, so that those that go on do not wait for many prompts.
std::vector<GenerationEngine::Numbered> GenerationEngine::take_next() {
  std::vector<Numbered> next;
  if (waiting_.empty() || !batch_.has_slot()) return next;
  next.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  return next;
}

void GenerationEngine::compute(const std::vector<Numbered>& begin) {
  for (const Numbered& one : begin) this->begin(one);
  if (batch_.empty()) return;
  const ServeTime now = ServeTime::clock::now();
  const std::size_t sequences = batch_.size();
  batch_.step();
  meter_.add_batch(sequences, sequences, ServeTime::clock::now() - now);
}

void GenerationEngine::begin(const Numbered& one) {
  const ServeTime now = ServeTime::clock::now();
  meter_.add_wait(now - one.task->arrived);
  going_[one.number] = one.task;
  const std::int64_t read_before = batch_.totals().prompt_tokens;
  try {
    batch_.begin(one.number, one.task->request, one.task->rule);
  } catch (...) {
    fail(one.number, std::current_exception());
  }
  const auto read = static_cast<std::size_t>(batch_.totals().prompt_tokens - read_before);
  if (read > 0) meter_.add_batch(1, read, ServeTime::clock::now() - now);
}

void GenerationEngine::fail(std::size_t number, const std::exception_ptr& why) {
  spdlog::error("a text could not be generated: {}", reason_of(why));
  going_.extract(number).mapped()->on_end({GenerationEnded::Kind::failed, {}});
}

void GenerationEngine::fail_all() {
  batch_.clear();
  for (const auto& [number, task] : std::exchange(going_, {}))
    task->on_end({GenerationEnded::Kind::failed, {}});
}

}  // namespace podium
