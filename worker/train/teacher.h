// The model that a training learns from (training.distill): whole in every process of the last stage, in
// fp32, neither rounded nor pruned, with the weights that model.init names. So it scores alike on every
// layout. A run that goes on learns from the same teacher, for the origin of its first weights is written
// down.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "worker/comm/parallel.h"
#include "worker/comm/single_communicator.h"
#include "worker/nn/model.h"
#include "worker/tensor/context.h"
#include "worker/train/engine.h"
#include "worker/train/first_weights.h"

namespace podium {

class TeacherModel {
 public:
  // Fills the parameters with the first weights of the run. Collective over the world.
  using Fill = std::function<FirstWeights(ParameterStore&)>;

  // `head`: the student's. `scores`: whether this process has a teacher; the others take part in its reading
  // alone. The context must outlive it. Throws Failure(bad_spec) where the head learns from no teacher.
  TeacherModel(Context& context, const JobSpec& spec, const ModelSpec& model, const HeadPlan& head,
               bool scores, Fill fill);

  // Gives the micro-batches its scores of them (HeadPlan::take_scores). The first call reads the weights, and
  // is collective over the world. It throws what `fill` throws, and Failure(bad_spec) where the weights have
  // no head for the task.
  void score(std::span<MicroBatch> batches);

 private:
  void read();
  void score(MicroBatch& batch);

  Context& context_;
  const ModelSpec spec_;
  const ModelOptions options_;
  const bool scores_;
  const Fill fill_;
  bool read_ = false;
  SingleCommunicator alone_;
  const ParallelGroups groups_;
  std::unique_ptr<Model> model_;    // only where it scores
  std::unique_ptr<Engine> engine_;  // of this model
};

}  // namespace podium
