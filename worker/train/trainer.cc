#include "worker/train/trainer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "worker/data/failure.h"
#include "worker/tensor/profiler.h"
#include "worker/train/held_out.h"
#include "worker/train/job_device.h"
#include "worker/train/job_model.h"
#include "worker/train/pinned_origin.h"
#include "worker/train/resume.h"
#include "worker/train/schedule.h"
#include "worker/train/sum_over.h"

namespace podium {
namespace {

constexpr std::int64_t kBucket = std::int64_t{4} << 20;  // elements: 16 MiB of gradients a message

LossScales scaled(const LossScales& scales, double factor) {
  LossScales product{};
  for (std::size_t term = 0; term < scales.size(); ++term)
    product[term] = static_cast<float>(scales[term] * factor);
  return product;
}

std::string layout_text(const ParallelLayout& layout) {
  return fmt::format("tensor {} x pipeline {} x data {}", layout.tensor, layout.pipeline, layout.data);
}

}  // namespace

Trainer::Trainer(const JobSpec& spec, CheckpointFolder checkpoints, const TrainerParts& parts)
    : spec_(spec),
      phases_(training_phases(spec.training)),
      parts_(parts),
      engine_(parts.context, parts.model, parts.groups),
      compression_(spec_, parts.context, parts.world, parts.model),
      reducer_(*parts.groups.data, parts.model.parameters().gradients(), kBucket,
               spec.parallel.distributed_optimizer),
      optimizer_(make_optimizer(spec.training.optimizer, parts.model.parameters(), reducer_.shard(),
                                parts.groups, parts.context)),
      scaler_(spec.training.precision),
      progress_(parts.events, spec.target, phases_.back().last_step(), is_lead()),
      checkpoint_folder_(checkpoints.path()),
      checkpoints_(std::move(checkpoints), spec.checkpoint.keep, parts.world, parts.groups.layout),
      products_(parts.context, parts.world, parts.groups.layout, spec.training.timed_products) {}

void Trainer::run() {
  resume();
  announce_start();
  if (spec_.mlperf && !state_.target_reached) count_held_out();
  train();
  finish();
}

CheckpointTensors Trainer::tensors() { return {parameters(), optimizer_->states(), optimizer_->shard()}; }

void Trainer::resume() {
  at("looking for a checkpoint");
  const ResumingRun run{spec_, parts_.tasks.text, parts_.resume_folder, last_step()};
  if (const auto loaded = load_checkpoint(run, checkpoints_, tensors(), progress_)) {
    state_ = *loaded;
    scaler_.restore(state_.loss_scaler);
    compression_.resume(state_);
    if (parts_.teacher != nullptr) keep_teacher();
    if (!parts_.best || parts_.best->metric != state_.best.metric) state_.best = {};
    if (state_.layout != parts_.groups.layout)
      progress_.note("info", fmt::format("resuming on {} what {} saved: exact to rounding, not to the bit",
                                         layout_text(parts_.groups.layout), layout_text(state_.layout)));
  } else {
    begin_anew();
  }
  parameters().weights_changed();
  for (const auto& [level, message] : products_.take_over(state_.products)) progress_.note(level, message);
  state_.products = products_.record();
  state_.text = parts_.tasks.text;
  if (parts_.tasks.tokens) state_.vocabulary = parts_.tasks.tokens(parts_.tasks.vocabulary);
  state_.labels = parts_.tasks.labels;
  state_.layout = parts_.groups.layout;
  state_.spec = spec_;
  saved_step_ = state_.step;
  if (parts_.mlperf != nullptr) parts_.mlperf->training_starts(state_.samples, state_.origin.step);
}

// The teacher is the model that the run began with, also where origin.json was deleted since.
void Trainer::keep_teacher() {
  if (!state_.origin.known() || pinned_origin(checkpoint_folder_, parts_.world)) return;
  if (parts_.world.rank() == 0) pin_origin(checkpoint_folder_, state_.origin);
}

void Trainer::begin_anew() {
  const FirstWeights first = parts_.first_weights(parameters());
  for (const std::string& warning : first.warnings) progress_.note("warning", warning);
  if (!first.note.empty()) progress_.note("info", first.note);
  state_.origin = first.origin;
  compression_.begin(parts_.first_ranges);
}

void Trainer::announce_start() {
  progress_.started(state_.step, model_parameters(parameters(), parts_.groups),
                    describe_device(parts_.context), state_.text, state_.origin);
  progress_.found(checkpoints_.found());
}

// MLPerf's log tells it in the end, also of an attempt that evaluates no more. Such runs have one phase.
void Trainer::count_held_out() {
  enter_phase(phases_.front());
  Sums sequences{0};
  if (counts_data())
    for (const MicroBatch& batch : task_->held_out().micro_batches) sequences[0] += batch.sequences;
  sum_over(parts_.world, sequences);
  if (parts_.mlperf != nullptr) parts_.mlperf->holds_out(static_cast<std::int64_t>(sequences[0]));
}

void Trainer::train() {
  if (state_.target_reached) outcome_ = Outcome::target_reached;
  if (outcome_ == Outcome::none_yet && state_.step >= last_step()) outcome_ = Outcome::steps_done;
  while (outcome_ == Outcome::none_yet) {
    enter_phase(phase_of(phases_, state_.step + 1));
    const std::int64_t before = state_.step;
    train_batch();
    if (state_.step > before) after_step();
    tell_saves(checkpoints_.poll());
  }
}

void Trainer::after_step() {
  const bool last = state_.step == last_step();
  const bool evaluates = due(spec_.evaluate.every) || (last && spec_.evaluate.every > 0 && !spec_.mlperf);
  const bool best = evaluates && evaluate();
  if (last && outcome_ == Outcome::none_yet) outcome_ = Outcome::steps_done;
  if (best || outcome_ != Outcome::none_yet || due(spec_.checkpoint.every)) save();
  if (outcome_ == Outcome::none_yet) progress_.phase(WorkerPhase::stepping, state_.step);
}

void Trainer::enter_phase(const TrainingPhase& phase) {
  if (phase_ == &phase) return;
  phase_ = &phase;
  progress_.phase(WorkerPhase::loading, state_.step);
  if (state_.phase != phase.index) {
    state_.passed_over = 0;
    state_.best = {};  // another length of sequences gives other values
  }
  state_.phase = phase.index;
  task_.reset();  // before the next one takes memory for its data
  task_ = parts_.tasks.make(phase.training);
  task_->start(step_of_phase() + state_.passed_over + 1);
  if (phases_.size() > 1)
    progress_.note("info", fmt::format("phase {} of {}: sequence length {}, steps {} to {}", phase.index + 1,
                                       phases_.size(), phase.training.sequence_length, phase.steps_before + 1,
                                       phase.last_step()));
  progress_.phase(WorkerPhase::stepping, state_.step);
}

void Trainer::train_batch() {
  auto begin = std::chrono::steady_clock::now();
  const ProfilePhase profile_step(parts_.context, "step");
  TaskBatch batch;
  {
    const ProfilePhase profile(parts_.context, "data");
    at("agreeing on a batch");
    batch = task_->next();
    if (!agree(batch.totals)) {
      outcome_ = Outcome::stopped;
      return;
    }
  }
  if (spec_.training.stochastic_rounding)
    parameters().round_stochastically(spec_.training.seed, state_.step + 1);
  if (parts_.teacher != nullptr) {
    at("asking the teacher");
    parts_.teacher->score(batch.micro_batches);
  }
  compression_.prepare(engine_, batch.micro_batches);
  if (time_products(batch)) begin = std::chrono::steady_clock::now();
  at("computing forward and backward");
  engine_.train(batch.micro_batches, scaled(task_->scales(batch.totals), scaler_.scale()),
                {spec_.training.seed, state_.step + 1},
                [&](std::int64_t first, std::int64_t last) { reducer_.ready(first, last); });
  const std::optional<double> gradient_norm = update();
  if (gradient_norm) compression_.step_taken();
  LossSums losses = engine_.take_losses();  // which came before the norm
  const bool log = gradient_norm && due(spec_.training.log_every);
  at("summing the losses");
  if (log) losses = sum_over(parts_.world, losses);
  throughput_.add(std::chrono::steady_clock::now() - begin,
                  gradient_norm ? phase_->training.batch.global : 0);
  record_memory();
  if (log) log_training(batch.totals, losses, *gradient_norm);
}

// By a rehearsal of some micro-batches, of which nothing stays.
bool Trainer::time_products(const TaskBatch& batch) {
  const std::string shapes = shapes_of(*phase_, spec_, parts_.groups.layout);
  if (!products_.wants(shapes)) return false;
  at("timing products");
  progress_.phase(WorkerPhase::loading, state_.step);
  progress_.note("info", "timing the products of " + shapes);
  LossScales ones;
  ones.fill(1);
  const auto rehearse = [&] {
    engine_.train(rehearsed(batch.micro_batches, parts_.groups.layout), ones,
                  {spec_.training.seed, state_.step + 1}, [](std::int64_t, std::int64_t) {});
    engine_.take_losses();
    forget_batch();
  };
  progress_.note("info", products_.choose(shapes, rehearse));
  state_.products = products_.record();
  progress_.phase(WorkerPhase::stepping, state_.step);
  return true;
}

// Adds up the totals of all data ranks; false where any rank was asked to stop.
bool Trainer::agree(Sums& totals) {
  if (!counts_data()) std::ranges::fill(totals, 0.0);
  totals.push_back(parts_.stop ? 1 : 0);
  sum_over(parts_.world, totals);
  const bool stop = totals.back() > 0;
  totals.pop_back();
  return !stop;
}

// The steps that the moments' bias correction counts. They go on through all phases, and so does AdamW's
// count; LAMB begins anew with each phase, as NVIDIA's recipe for BERT does (run_pretraining.py sets the
// optimizer's step to zero for phase 2), and its trust ratio makes up for it.
std::int64_t Trainer::step_of_correction() const {
  return spec_.training.optimizer.name == OptimizerKind::lamb ? step_of_phase() : state_.step;
}

double Trainer::learning_rate_now() const {
  return learning_rate(phase_->training.schedule, phase_->training.optimizer.lr, step_of_phase());
}

// Takes the step, where the summed gradients are finite; returns their norm.
std::optional<double> Trainer::update() {
  const ProfilePhase profile(parts_.context, "update");
  at("summing the gradients");
  finish_gradients();
  const double scale = scaler_.scale();
  const double norm = gradient_norm() / scale;
  if (const StepVerdict verdict = scaler_.judge(norm); verdict != StepVerdict::take) {
    pass_over(verdict);
    return std::nullopt;
  }
  ++state_.step;
  state_.samples += phase_->training.batch.global;
  apply_gradients(clip_factor(norm, spec_.training.optimizer.clip) / scale);
  return norm;
}

// Leaves the batch, as apex and Megatron-LM do: the next one is tried for the same step. A restart from a
// later checkpoint does not meet it again.
void Trainer::pass_over(StepVerdict verdict) {
  const LossScalerState& state = scaler_.state();
  if (verdict == StepVerdict::diverged)
    throw Failure(
        WorkerExit::diverged,
        fmt::format("the gradients are not finite at step {}, now with {} batches in a row and {} in "
                    "all: training diverged; lower the learning rate or lengthen the warm-up",
                    state_.step + 1, state.in_a_row, state.not_finite));
  ++state_.passed_over;
  forget_batch();
  if (verdict == StepVerdict::pass_over)
    progress_.note("warning", fmt::format("the gradients of a batch for step {} are not finite: it is passed "
                                          "over, as {} in a row or {} in all may be; this is {} and {}",
                                          state_.step + 1, kMostNotFiniteInARow, kMostNotFinite,
                                          state.in_a_row, state.not_finite));
}

// What a batch has left with which no step is taken.
void Trainer::forget_batch() {
  parameters().clear_gradients(parts_.context.threads);
  compression_.batch_left();
}

void Trainer::finish_gradients() {
  const ProfileScope profile(parts_.context, "wait_for_gradients");
  reducer_.finish();
  compression_.gradients_summed();
}

double Trainer::gradient_norm() {
  const ProfileScope profile(parts_.context, "gradient_norm",
                             {.bytes = static_cast<double>(parameters().gradients().size_bytes())});
  return optimizer_->gradient_norm(parameters());
}

// The first update of a save may have to wait for the disk.
BeforeChange Trainer::before_update() {
  if (!checkpoints_.may_wait()) return checkpoints_.before_update();
  at("waiting for a checkpoint");
  progress_.phase(WorkerPhase::checkpointing, state_.step - 1);
  BeforeChange before = checkpoints_.before_update();
  progress_.phase(WorkerPhase::stepping, state_.step - 1);
  return before;
}

void Trainer::apply_gradients(double scale) {
  BeforeChange before_change = before_update();
  at("updating the weights");
  {
    // Weights and states are read and written, gradients read and cleared.
    const double bytes = (4.0 + 2.0 * static_cast<double>(optimizer_->states().size())) *
                         static_cast<double>(parameters().weights().size_bytes());
    const ProfileScope profile(parts_.context, "optimizer", {.bytes = bytes});
    optimizer_->update(parameters(), step_of_correction(), learning_rate_now(), scale, before_change);
  }
  const ProfileScope profile(parts_.context, "gather_weights");
  reducer_.gather(parameters().weights());
  if (!optimizer_->updates_all()) parameters().weights_changed();
}

void Trainer::record_memory() {
  Profiler* const profiler = parts_.context.profiler;
  if (profiler == nullptr) return;
  const auto bytes = [](const auto& values) { return static_cast<std::int64_t>(values.size_bytes()); };
  const ModelMemory model = parts_.model.memory();
  profiler->set_memory("weights", bytes(parameters().weights()));
  profiler->set_memory("gradients", bytes(parameters().gradients()));
  std::int64_t states = 0;
  for (const OptimizerState& state : optimizer_->states()) states += bytes(state.values);
  profiler->set_memory("optimizer", states);
  profiler->set_memory("activations", model.activations);
  profiler->set_memory("scratch",
                       model.workspace + static_cast<std::int64_t>(parts_.context.scratch.capacity()));
}

void Trainer::log_training(const Sums& totals, const LossSums& losses, double gradient_norm) {
  Metrics metrics = task_->training_metrics(totals, losses);
  metrics.emplace_back("train/learning_rate", learning_rate_now());
  metrics.emplace_back("train/grad_norm", gradient_norm);
  const bool fp16 = spec_.training.precision == Precision::fp16;
  if (fp16) metrics.emplace_back("train/loss_scale", scaler_.scale());
  if (const std::int64_t skipped = scaler_.state().skipped; fp16 || skipped > 0)
    metrics.emplace_back("train/skipped_steps", static_cast<double>(skipped));
  const double rate = throughput_.take(parts_.world);
  metrics.emplace_back("train/sequences_per_second", rate);
  metrics.emplace_back("train/tokens_per_second", rate * phase_->training.sequence_length);
  tell(metrics);
}

// True where the run keeps its best checkpoint and this step's is it.
bool Trainer::evaluate() {
  at("evaluating");
  progress_.phase(WorkerPhase::evaluating, state_.step);
  if (parts_.mlperf != nullptr) parts_.mlperf->evaluation_starts(state_.samples);
  const Findings found = findings_of_held_out(*task_, engine_, parts_.context, parts_.world, counts_data());
  if (is_lead()) write_task_files(checkpoint_folder_, found.files);
  tell_mlperf(found.metrics);
  tell(found.metrics);
  return parts_.best && parts_.best->take(found.metrics, state_.step, state_.best);
}

void Trainer::tell_mlperf(const Metrics& metrics) {
  if (parts_.mlperf == nullptr) return;
  const auto value = std::ranges::find(metrics, spec_.target->metric, &Metrics::value_type::first);
  if (value == metrics.end()) refuse_spec("mlperf: no evaluation tells " + spec_.target->metric);
  parts_.mlperf->evaluated(state_.samples, value->second);
}

void Trainer::tell(const Metrics& metrics) {
  if (!progress_.metrics(state_.step, metrics)) return;
  if (parts_.mlperf != nullptr) parts_.mlperf->ended(state_.samples, true);
  outcome_ = Outcome::target_reached;
  state_.target_reached = true;
}

// Returns at once: the next forward and backward only read what is being saved.
void Trainer::save() {
  state_.loss_scaler = scaler_.state();
  compression_.keep_in(state_);
  at("beginning a checkpoint");
  progress_.phase(WorkerPhase::checkpointing, state_.step);
  checkpoints_.begin_save(state_, tensors());
  saved_step_ = state_.step;
}

void Trainer::tell_saves(const std::vector<FinishedSave>& saves) {
  for (const FinishedSave& finished : saves) progress_.saved(finished);
  for (const std::string& warning : checkpoints_.take_warnings()) progress_.note("warning", warning);
}

void Trainer::finish() {
  if (outcome_ == Outcome::stopped && saved_step_ != state_.step) save();
  at("finishing checkpoints");
  progress_.phase(WorkerPhase::checkpointing, state_.step);
  tell_saves(checkpoints_.finish());
  switch (outcome_) {
    case Outcome::stopped:
      progress_.note("info", fmt::format("asked to stop: saved step {} and left", state_.step));
      return progress_.finished(state_.step, "preempted");
    case Outcome::target_reached:
      progress_.note(
          "info", fmt::format("reached the target {} at step {}", progress_.describe_target(), state_.step));
      break;
    case Outcome::steps_done:
      if (parts_.mlperf != nullptr) parts_.mlperf->ended(state_.samples, false);
      if (const auto value = progress_.last_target_value())
        progress_.note(
            "warning",
            fmt::format("all {} steps done without reaching the target {}; the last value was {:.4f}",
                        state_.step, progress_.describe_target(), *value));
      break;
    case Outcome::none_yet:
      PODIUM_CHECK(false, "training ended without a reason");
  }
  progress_.finished(state_.step, "succeeded");
}

}  // namespace podium
