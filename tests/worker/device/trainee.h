// A small model that is trained step by step by the parts of the training loop, on the CPU or a device.
#pragma once

#include <memory>
#include <vector>

#include "tests/worker/nn/small_models.h"
#include "worker/checkpoint/store.h"
#include "worker/nn/pretraining_head.h"
#include "worker/train/engine.h"
#include "worker/train/loss_scaler.h"
#include "worker/train/optimizer.h"

namespace podium::test {

class Trainee {
 public:
  Trainee(ModelFamily family, const ModelOptions& options, const OptimizerSpec& optimizer, Context with)
      : spec_(small_spec_of(family)),
        lone_(spec_, options, std::move(with)),
        engine_(lone_.context, *lone_.model, lone_.groups),
        optimizer_(make_optimizer(optimizer, parameters(), lone_.context)),
        scaler_(options.precision) {
    if (options.precision == Precision::fp16)
      scaler_.restore({.scale = 1 << 16});  // at which nothing overflows
  }
  Trainee(ModelFamily family, const ModelOptions& options, OptimizerKind kind, Context with)
      : Trainee(family, options, OptimizerSpec{.name = kind, .lr = 1e-2}, std::move(with)) {}
  Trainee(ModelFamily family, Precision precision, OptimizerKind kind, Context with)
      : Trainee(family, ModelOptions{.precision = precision}, kind, std::move(with)) {}

  // One step on two micro-batches; returns the loss of the first objective.
  double step() {
    ++step_;
    const auto seed = static_cast<std::uint64_t>(2 * step_);
    const std::vector<MicroBatch> batches{random_batch(spec_, 2, seed, 20),
                                          random_batch(spec_, 2, seed + 1, 20)};
    const auto scale = static_cast<float>(scaler_.scale());
    if (rounds_stochastically) parameters().round_stochastically(1, step_);
    engine_.train(batches, {0.05F * scale, 0.25F * scale}, {.seed = 1, .step = step_},
                  [](std::int64_t, std::int64_t) {});
    const double norm = optimizer_->gradient_norm(parameters()) / scale;
    const LossSums losses = engine_.take_losses();
    if (scaler_.judge(norm) == StepVerdict::take)
      optimizer_->update(parameters(), step_, 1e-2, clip_factor(norm, 1.0) / scale,
                         before_update ? before_update() : nullptr);
    else
      parameters().clear_gradients();
    return losses[kLanguageTerm].loss / static_cast<double>(losses[kLanguageTerm].count);
  }

  std::vector<float> weights() { return parameters().memory().downloaded<float>(parameters().weights()); }
  CheckpointTensors tensors() { return {parameters(), optimizer_->states(), optimizer_->shard()}; }
  CheckpointState state() const {
    CheckpointState state;
    state.step = step_;
    state.loss_scaler = scaler_.state();
    return state;
  }
  void restore(const CheckpointState& state) {
    step_ = state.step;
    scaler_.restore(state.loss_scaler);
  }

  ParameterStore& parameters() { return lone_.model->parameters(); }
  LoneModel& lone() { return lone_; }
  const ModelSpec& spec() const { return spec_; }

  std::function<BeforeChange()> before_update;
  bool rounds_stochastically = false;

 private:
  static ModelSpec small_spec_of(ModelFamily family) {
    ModelSpec spec = small_spec(family, 0.1);
    spec.vocab = 72;
    return spec;
  }

  ModelSpec spec_;
  LoneModel lone_;
  Engine engine_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  std::int64_t step_ = 0;
};

}  // namespace podium::test
