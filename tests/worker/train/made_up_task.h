// A task whose batches are made up, by a script of what is wrong with them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/worker/nn/small_models.h"
#include "worker/nn/pretraining_head.h"
#include "worker/train/task.h"

namespace podium {

// A batch by the length of its phase and its number there.
using Batch = std::pair<int, std::int64_t>;

// What the made-up data hold, and what was asked of them.
struct Script {
  std::set<Batch> poison;                     // their gradients are not finite
  std::set<Batch> missing;                    // the data have none of these numbers
  std::vector<double> scores;                 // "eval/score" after each step; none is told beyond
  std::size_t stop_before = ~std::size_t{0};  // so many batches served, the run is asked to stop
  std::chrono::milliseconds idle{0};          // before the first batch and after each evaluation
  std::vector<Batch> served;
  std::atomic<bool> stop = false;
};

class MadeUpTask final : public Task {
 public:
  // `seed`: of the sequences, besides the batch's number.
  MadeUpTask(const ModelSpec& model, const TrainingSpec& phase, Script& script, std::uint64_t seed = 0)
      : model_(model), phase_(phase), script_(script), seed_(seed) {}

  void start(std::int64_t first_batch) override {
    next_ = first_batch;
    std::this_thread::sleep_for(script_.idle);
  }
  TaskBatch next() override {
    while (script_.missing.contains(batch())) ++next_;
    if (script_.served.size() == script_.stop_before) script_.stop = true;
    script_.served.push_back(batch());
    TaskBatch made{{script_.poison.contains(batch()) ? 1.0 : 0.0}, {}};
    for (int i = 0; i < 2; ++i)
      made.micro_batches.push_back(test::random_batch(model_, static_cast<int>(phase_.batch.micro),
                                                      seed_ + static_cast<std::uint64_t>(2 * next_ + i),
                                                      phase_.sequence_length));
    made.micro_batches[1].first_sample = phase_.batch.micro;
    ++next_;
    return made;
  }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override {
    if (totals[0] > 0) return {std::numeric_limits<float>::quiet_NaN()};
    return {0.05F, 0.25F};
  }
  Metrics training_metrics(const Sums&, const LossSums& losses) const override {
    return {{"train/loss", losses[kLanguageTerm].loss}};
  }
  Findings findings(const Evaluation&) const override {
    std::this_thread::sleep_for(script_.idle);
    const auto step = static_cast<std::size_t>(next_ - 2);
    if (step >= script_.scores.size()) return {};
    return {{{"eval/score", script_.scores[step]}}, {}};
  }

 private:
  Batch batch() const { return {phase_.sequence_length, next_}; }

  const ModelSpec model_;
  const TrainingSpec phase_;
  Script& script_;
  const std::uint64_t seed_;
  TaskBatch held_out_;
  std::int64_t next_ = 0;
};

}  // namespace podium
