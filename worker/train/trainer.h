// The training loop: resume, phases, steps, metrics, evaluation, checkpoints, target, leaving on request.
// Every decision is taken from values all ranks agree on, so that all of them do the same at the same step.
//
//   resume → started → ┌ agree (totals of the batch, stop?)
//                      │   → micro-batches through the model, gradients summed as they become final
//                      │   → norm, loss scale, clip, update → metrics → evaluate → target? → checkpoint ┐
//                      └────────────────────────────── next step ←──────────────────────────────────────┘
//                                                                                              → finished
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/nn/model.h"
#include "worker/train/checkpoint_store.h"
#include "worker/train/engine.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/loss_scaler.h"
#include "worker/train/optimizer.h"
#include "worker/train/phases.h"
#include "worker/train/progress.h"
#include "worker/train/task.h"

namespace podium {

// What a trainer works with; all of it must outlive the trainer.
struct TrainerParts {
  Context& context;
  Communicator& world;
  const ParallelGroups& groups;
  Model& model;
  const TaskSource& tasks;
  EventLog& events;
  const std::atomic<bool>& stop;  // raised from outside to ask for a save and an early end
  // Fills the parameters of a run that begins; returns what should be noted about it.
  std::function<std::vector<std::string>(ParameterStore&)> first_weights;
};

class Trainer {
 public:
  Trainer(const JobSpec& spec, const std::filesystem::path& checkpoint_folder, const TrainerParts& parts);

  // Trains to the end, the target, or `stop`. Throws Failure, PeerLost or BadData.
  void run();

  std::int64_t step() const { return state_.step; }  // finished so far

 private:
  enum class Outcome { none_yet, steps_done, target_reached, stopped };

  void resume();
  void announce_start();
  void train();
  void enter_phase(const TrainingPhase& phase);
  // One optimizer step; false where the ranks agreed to stop instead.
  bool train_step();
  bool agree(Sums& totals);
  double update();
  void finish_gradients();
  double gradient_norm();
  void apply_gradients(double scale);
  void record_memory();
  void log_training(const Sums& totals, const LossSums& losses, double gradient_norm);
  void evaluate();
  void tell(const Metrics& metrics);
  void save();
  void tell_saves(const std::vector<FinishedSave>& saves);
  void finish();

  ParameterStore& parameters() { return parts_.model.parameters(); }
  CheckpointTensors tensors();
  bool is_lead() const { return parts_.world.rank() == 0; }
  // Of the ranks that share a data rank, the one that counts its data.
  bool counts_data() const { return parts_.groups.first_stage() && parts_.groups.place.tensor == 0; }
  bool due(std::int64_t every) const { return every > 0 && state_.step % every == 0; }
  std::int64_t last_step() const { return phases_.back().last_step(); }
  std::int64_t step_of_phase() const { return state_.step - phase_->steps_before; }
  double learning_rate_now() const;

  const JobSpec spec_;
  const std::vector<TrainingPhase> phases_;
  const TrainerParts parts_;
  Engine engine_;
  GradientReducer reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  Progress progress_;
  CheckpointStore checkpoints_;
  CheckpointState state_;
  const TrainingPhase* phase_ = nullptr;  // of phases_
  std::unique_ptr<Task> task_;            // of this phase
  Outcome outcome_ = Outcome::none_yet;
  std::int64_t saved_step_ = 0;
  std::chrono::steady_clock::duration busy_{};  // training time since the last metrics
  std::int64_t busy_steps_ = 0;
};

// A hash of everything in the spec that shapes the run; not of where, in what pieces, how often or by whom it
// is computed and watched.
std::string run_fingerprint(const JobSpec& spec);

}  // namespace podium
