// A BERT or GPT that trains on one random batch, again and again: forward, backward, global-norm clip, AdamW.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "worker/comm/single_communicator.h"
#include "worker/nn/model.h"
#include "worker/train/engine.h"
#include "worker/train/job_device.h"
#include "worker/train/optimizer.h"

namespace podium {

struct TraineeOptions {
  ModelSpec model;
  Precision precision = Precision::fp32;
  int length = 128, batch = 32;
  int masked = 20;  // positions that BERT predicts in each sequence
  int threads = 2;
  bool gpu = false;             // else the CPU
  bool timed_products = false;  // on a GPU: as training.timed_products
};

class Trainee {
 public:
  explicit Trainee(const TraineeOptions& options);

  // One step; returns its mean loss. `before_update`, where given, is called once the gradients are there and
  // returns what the update is to be told of.
  double step(const std::function<BeforeChange()>& before_update = nullptr);

  double flops() const { return model_->training_flops(batch_); }  // of a step
  Communicator& world() { return world_; }
  ParameterStore& parameters() { return model_->parameters(); }
  Optimizer& optimizer() { return *optimizer_; }
  std::int64_t steps() const { return step_; }  // done so far
  double update_seconds() const {
    return update_seconds_;
  }  // of the last step: `before_update` and the update

 private:
  JobDevice device_;
  Context context_;
  SingleCommunicator world_;
  ParallelGroups groups_;
  std::unique_ptr<Model> model_;
  Engine engine_;
  std::unique_ptr<Optimizer> optimizer_;
  MicroBatch batch_;
  std::int64_t step_ = 0;
  double update_seconds_ = 0;
};

}  // namespace podium
