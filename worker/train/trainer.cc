#include "worker/train/trainer.h"

#include <spdlog/fmt/fmt.h>
#include <xxhash.h>

#include <array>
#include <cmath>

#include "common/base/logging.h"
#include "worker/train/failure.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/schedule.h"

namespace podium {
namespace {

constexpr std::int64_t kBucket = std::int64_t{4} << 20;  // elements: 16 MiB of gradients a message

std::string describe(const TargetSpec& target) {
  return fmt::format("{} {} {}", target.metric, target.at_least ? "at least" : "at most",
                     target.at_least ? *target.at_least : *target.at_most);
}

}  // namespace

std::string run_fingerprint(const JobSpec& spec) {
  nlohmann::json json = to_json(spec);
  json["training"].erase("log_every");
  const nlohmann::json shaping{
      {"model", json["model"]}, {"data", json["data"]}, {"training", json["training"]}};
  const std::string text = shaping.dump();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

Trainer::Trainer(const TrainerOptions& options, StepTask& task, Communicator& comm, EventLog& events,
                 const std::atomic<bool>& stop)
    : spec_(options.spec),
      task_(task),
      comm_(comm),
      events_(events),
      stop_(stop),
      threads_(options.threads),
      optimizer_(make_optimizer(spec_.training.optimizer, task.parameters(), threads_)) {
  if (is_lead()) checkpoints_.emplace(options.checkpoint_folder, spec_.checkpoint.keep);
}

void Trainer::run() {
  resume();
  announce_start();
  train();
  finish();
}

// Rank 0 reads, the others receive: all begin from the same bits.
void Trainer::resume() {
  state_ = {0, run_fingerprint(spec_), comm_.size(), false};
  std::array<std::int64_t, 3> found{0, comm_.size(), 0};
  if (is_lead()) {
    std::vector<std::string> problems;
    const auto loaded =
        checkpoints_->load_newest(state_.fingerprint, task_.parameters(), *optimizer_, problems);
    for (const std::string& problem : problems) note("warning", problem);
    if (loaded) found = {loaded->step, loaded->world_size, loaded->target_reached};
  }
  comm_.broadcast(std::as_writable_bytes(std::span(found)), 0);
  state_.step = saved_step_ = found[0];
  state_.target_reached = found[2] != 0;
  if (state_.step == 0) return;
  for (const std::span<float> buffer :
       {task_.parameters().weights(), optimizer_->first_moment(), optimizer_->second_moment()})
    comm_.broadcast(std::as_writable_bytes(buffer), 0);
  task_.parameters().weights_changed();
  if (is_lead() && found[1] != comm_.size())
    note("info", fmt::format("resuming on {} ranks what {} saved: exact to rounding, not to the bit",
                             comm_.size(), found[1]));
}

void Trainer::announce_start() {
  events_.write(StartedEvent{state_.step, spec_.training.schedule.steps, task_.parameters().parameter_count(),
                             fmt::format("cpu, {} thread{}", threads_, threads_ == 1 ? "" : "s")});
}

void Trainer::train() {
  if (state_.target_reached) phase_ = Phase::target_reached;
  if (phase_ == Phase::training && state_.step >= spec_.training.schedule.steps) phase_ = Phase::steps_done;
  task_.start(state_.step + 1);
  while (phase_ == Phase::training) {
    if (!train_step()) {
      phase_ = Phase::stopped;
      break;
    }
    const bool last = state_.step == spec_.training.schedule.steps;
    if (spec_.evaluate.every > 0 && (last || due(spec_.evaluate.every))) evaluate();
    if (last && phase_ == Phase::training) phase_ = Phase::steps_done;
    if (phase_ != Phase::training || due(spec_.checkpoint.every)) save();
  }
}

bool Trainer::train_step() {
  const auto begin = std::chrono::steady_clock::now();
  Sums denominators = task_.begin_step();
  if (!agree(denominators)) return false;

  ParameterStore& parameters = task_.parameters();
  GradientReducer reducer(comm_, parameters.gradients(), kBucket, false);
  Sums losses = task_.forward_backward(
      denominators, [&](std::int64_t first, std::int64_t last) { reducer.ready(first, last); });
  reducer.finish();
  const double norm = update();
  ++busy_steps_;
  const bool log = due(spec_.training.log_every);
  if (log) sum_over_ranks(losses);
  busy_ += std::chrono::steady_clock::now() - begin;
  if (log) log_training(denominators, losses, norm);
  return true;
}

// Adds up the denominators of all ranks; false where any rank was asked to stop.
bool Trainer::agree(Sums& denominators) {
  denominators.push_back(stop_ ? 1 : 0);
  sum_over_ranks(denominators);
  const bool stop = denominators.back() > 0;
  denominators.pop_back();
  return !stop;
}

// Clips and applies the summed gradients; returns their norm.
double Trainer::update() {
  const std::int64_t step = state_.step + 1;
  const double norm = optimizer_->gradient_norm(task_.parameters());
  if (!std::isfinite(norm))
    throw Failure(WorkerExit::diverged,
                  fmt::format("the gradients are not finite at step {}: training diverged; "
                              "lower the learning rate or lengthen the warm-up",
                              step));
  const TrainingSpec& training = spec_.training;
  optimizer_->update(task_.parameters(), step, learning_rate(training.schedule, training.optimizer.lr, step),
                     clip_factor(norm, training.optimizer.clip));
  state_.step = step;
  return norm;
}

void Trainer::log_training(const Sums& denominators, const Sums& losses, double norm) {
  const TrainingSpec& training = spec_.training;
  Metrics metrics = task_.training_metrics(denominators, losses);
  metrics.emplace_back("train/learning_rate",
                       learning_rate(training.schedule, training.optimizer.lr, state_.step));
  metrics.emplace_back("train/grad_norm", norm);
  watch_target(metrics);
  const double seconds = std::chrono::duration<double>(busy_).count();
  const double rate = static_cast<double>(busy_steps_ * task_.sequences_per_step()) / seconds;
  metrics.emplace_back("train/sequences_per_second", rate);
  metrics.emplace_back("train/tokens_per_second", rate * static_cast<double>(task_.sequence_length()));
  busy_ = {};
  busy_steps_ = 0;
  emit(std::move(metrics));
}

void Trainer::evaluate() {
  Sums sums = task_.evaluate();
  sum_over_ranks(sums);
  const Metrics metrics = task_.evaluation_metrics(sums);
  emit(metrics);
  watch_target(metrics);
}

void Trainer::watch_target(const Metrics& metrics) {
  if (!spec_.target || phase_ == Phase::target_reached) return;
  for (const auto& [name, value] : metrics) {
    if (name != spec_.target->metric) continue;
    last_target_value_ = value;
    if (!spec_.target->reached(value)) continue;
    phase_ = Phase::target_reached;
    state_.target_reached = true;
    if (is_lead()) events_.write(TargetEvent{state_.step, name, value});
  }
}

// Rank 0 writes while the others wait: nobody goes on before the checkpoint is on disk.
void Trainer::save() {
  if (is_lead()) {
    const auto begin = std::chrono::steady_clock::now();
    const SavedCheckpoint saved = checkpoints_->save(state_, task_.parameters(), *optimizer_);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    events_.write(CheckpointEvent{state_.step, saved.name, saved.bytes, seconds.count()});
  }
  comm_.barrier();
  saved_step_ = state_.step;
}

void Trainer::finish() {
  switch (phase_) {
    case Phase::stopped:
      if (saved_step_ != state_.step) save();
      note("info", fmt::format("asked to stop: saved step {} and left", state_.step));
      events_.write(FinishedEvent{state_.step, "preempted"});
      return;
    case Phase::target_reached:
      note("info", fmt::format("reached the target {} at step {}", describe(*spec_.target), state_.step));
      break;
    case Phase::steps_done:
      if (spec_.target && last_target_value_)
        note("warning",
             fmt::format("all {} steps done without reaching the target {}; the last value was {:.4f}",
                         state_.step, describe(*spec_.target), *last_target_value_));
      break;
    case Phase::training:
      PODIUM_CHECK(false, "training ended without a reason");
  }
  comm_.barrier();
  events_.write(FinishedEvent{state_.step, "succeeded"});
}

void Trainer::sum_over_ranks(Sums& sums) { comm_.all_reduce(std::span<double>(sums)).get(); }

void Trainer::emit(Metrics metrics) {
  if (!is_lead()) return;
  std::string line;
  for (const auto& [name, value] : metrics) line += fmt::format(" {}={:.5g}", name, value);
  spdlog::info("step {}/{}{}", state_.step, spec_.training.schedule.steps, line);
  events_.write(MetricsEvent{state_.step, std::move(metrics)});
}

void Trainer::note(const std::string& level, const std::string& message) {
  if (!is_lead()) return;
  spdlog::log(level == "warning" ? spdlog::level::warn : spdlog::level::info, message);
  events_.note(level, message);
}

}  // namespace podium
