// The training loop: resume, phases, steps, metrics, evaluation, checkpoints, target, and an early end on
// request. Every decision follows from values that all ranks agree on, so that all do the same at the same
// step.
//
//   resume → started → ┌ agree (totals of the batch, stop?)
//                      │   → micro-batches through the model, gradients summed as they become final
//                      │   → norm: finite? → clip, update → metrics → evaluate → target? → checkpoint ┐
//                      └────── next batch ←──┴─────────────────────────────────────────────────────────┘
//                                                                                              → finished
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/checkpoint/store.h"
#include "worker/comm/parallel.h"
#include "worker/nn/model.h"
#include "worker/train/best_rule.h"
#include "worker/train/compression.h"
#include "worker/train/engine.h"
#include "worker/train/first_weights.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/loss_scaler.h"
#include "worker/train/mlperf_log.h"
#include "worker/train/optimizer.h"
#include "worker/train/phases.h"
#include "worker/train/product_timing.h"
#include "worker/train/progress.h"
#include "worker/train/task.h"
#include "worker/train/teacher.h"
#include "worker/train/throughput.h"

namespace podium {

// What a trainer works with. All of it must outlive the trainer.
struct TrainerParts {
  Context& context;
  Communicator& world;
  const ParallelGroups& groups;
  Model& model;
  const TaskSource& tasks;
  EventLog& events;
  const std::atomic<bool>& stop;  // somebody else raises it to ask for a save and an early end
  // Fills the parameters of a run that begins.
  std::function<FirstWeights(ParameterStore&)> first_weights;
  // The checkpoints of another job; a run that has none of its own resumes from them. "" for none.
  std::filesystem::path resume_folder = {};
  // Is set to what the training does at present, for whoever reports a long wait. May be none.
  std::atomic<const char*>* activity = nullptr;
  // By what held-out metric the run keeps its best checkpoint, if it does.
  std::optional<BestRule> best = {};
  // By what ranges a run that begins rounds its model's inputs; none: by those of its first batch.
  std::function<std::vector<float>()> first_ranges = {};
  // Whose scores the model's head learns; may be none.
  TeacherModel* teacher = nullptr;
  // The lead's, of a run that is measured as MLPerf measures; else none.
  MlperfLog* mlperf = nullptr;
};

class Trainer {
 public:
  Trainer(const JobSpec& spec, CheckpointFolder checkpoints, const TrainerParts& parts);

  // Trains to the end, the target, or `stop`. Throws Failure, PeerLost or BadData.
  void run();

  std::int64_t step() const { return state_.step; }                  // finished so far
  bool was_stopped() const { return outcome_ == Outcome::stopped; }  // by SIGTERM, before it was through

 private:
  enum class Outcome { none_yet, steps_done, target_reached, stopped };

  void resume();
  void keep_teacher();
  void begin_anew();
  void announce_start();
  void count_held_out();
  void train();
  void enter_phase(const TrainingPhase& phase);
  // Takes one optimizer step, unless the batch's gradients are not finite or the ranks agree to stop.
  void train_batch();
  // Called before the first step of a phase. Returns true if it took time.
  bool time_products(const TaskBatch& batch);
  void after_step();
  bool agree(Sums& totals);
  std::optional<double> update();
  void pass_over(StepVerdict verdict);
  void forget_batch();
  void finish_gradients();
  double gradient_norm();
  BeforeChange before_update();
  void apply_gradients(double scale);
  void record_memory();
  void log_training(const Sums& totals, const LossSums& losses, double gradient_norm);
  bool evaluate();
  void tell_mlperf(const Metrics& metrics);
  void tell(const Metrics& metrics);
  void save();
  void tell_saves(const std::vector<FinishedSave>& saves);
  void finish();

  ParameterStore& parameters() { return parts_.model.parameters(); }
  CheckpointTensors tensors();
  void at(const char* activity) {
    if (parts_.activity != nullptr) *parts_.activity = activity;
  }
  bool is_lead() const { return parts_.world.rank() == 0; }
  // Among the ranks that share a data rank, one counts its data.
  bool counts_data() const { return parts_.groups.first_stage() && parts_.groups.place.tensor == 0; }
  bool due(std::int64_t every) const { return every > 0 && state_.step % every == 0; }
  std::int64_t last_step() const { return phases_.back().last_step(); }
  std::int64_t step_of_phase() const { return state_.step - phase_->steps_before; }
  std::int64_t step_of_correction() const;
  double learning_rate_now() const;

  const JobSpec spec_;
  const std::vector<TrainingPhase> phases_;
  const TrainerParts parts_;
  Engine engine_;
  Compression compression_;
  GradientReducer reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  Progress progress_;
  const std::filesystem::path checkpoint_folder_;
  CheckpointStore checkpoints_;
  ProductTiming products_;
  CheckpointState state_;
  const TrainingPhase* phase_ = nullptr;  // of phases_
  std::unique_ptr<Task> task_;            // of this phase
  Outcome outcome_ = Outcome::none_yet;
  std::int64_t saved_step_ = 0;
  Throughput throughput_;  // since the last metrics
};

}  // namespace podium
