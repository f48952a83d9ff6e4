// The training loop: resume, steps, metrics, evaluation, checkpoints, target, leaving on request.
// Every decision is taken from values all ranks agree on, so that all of them do the same at the same step.
//
//   resume → started → ┌ agree (denominators, stop?) → forward and backward, gradients summed as they become
//   final
//                      │        → norm, clip, update → metrics → evaluate → target? → checkpoint ┐
//                      └──────────────────────────── next step ←─────────────────────────────────┘ → finished
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "common/model/launch.h"
#include "worker/comm/communicator.h"
#include "worker/train/checkpoint.h"
#include "worker/train/event_log.h"
#include "worker/train/optimizer.h"
#include "worker/train/step_task.h"

namespace podium {

struct TrainerOptions {
  JobSpec spec;
  std::filesystem::path checkpoint_folder;
  int threads = 1;
};

class Trainer {
 public:
  // `stop` is raised from outside to ask for a save and an early end.
  Trainer(const TrainerOptions& options, StepTask& task, Communicator& comm, EventLog& events,
          const std::atomic<bool>& stop);

  // Trains to the end, the target, or `stop`. Throws Failure, PeerLost or BadData.
  void run();

  std::int64_t step() const { return state_.step; }  // finished so far

 private:
  enum class Phase { training, steps_done, target_reached, stopped };

  void resume();
  void announce_start();
  void train();
  // One optimizer step; false where the ranks agreed to stop instead.
  bool train_step();
  bool agree(Sums& denominators);
  double update();
  void log_training(const Sums& denominators, const Sums& losses, double norm);
  void evaluate();
  void watch_target(const Metrics& metrics);
  void save();
  void finish();

  bool is_lead() const { return comm_.rank() == 0; }
  bool due(std::int64_t every) const { return every > 0 && state_.step % every == 0; }
  void sum_over_ranks(Sums& sums);
  void emit(Metrics metrics);
  void note(const std::string& level, const std::string& message);

  const JobSpec spec_;
  StepTask& task_;
  Communicator& comm_;
  EventLog& events_;
  const std::atomic<bool>& stop_;
  int threads_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<CheckpointFolder> checkpoints_;  // on rank 0
  TrainingState state_;
  std::int64_t saved_step_ = 0;
  Phase phase_ = Phase::training;
  std::chrono::steady_clock::duration busy_{};  // training time since the last metrics
  std::int64_t busy_steps_ = 0;
  std::optional<double> last_target_value_;
};

// A hash of everything in the spec that shapes the run; not of where, how often or by whom it is watched.
std::string run_fingerprint(const JobSpec& spec);

}  // namespace podium
