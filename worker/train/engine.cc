#include "worker/train/engine.h"

#include <algorithm>

#include "common/base/check.h"
#include "worker/tensor/profiler.h"

namespace podium {
namespace {

// The stages next to `stage` on a ring: the last one's chunk k goes on as the first one's chunk k + 1.
int stage_before(const PipelineShape& shape, int stage) { return (stage + shape.stages - 1) % shape.stages; }
int stage_after(const PipelineShape& shape, int stage) { return (stage + 1) % shape.stages; }

}  // namespace

Engine::Engine(const Context& context, Model& model, const ParallelGroups& groups)
    : context_(context),
      model_(model),
      groups_(groups),
      shape_{groups.layout.pipeline, model.chunks()},
      stage_(groups.place.pipeline),
      transport_(*groups.pipeline, context.memory),
      partial_(context.memory.device) {}

void Engine::train(std::span<const MicroBatch> batches, const LossScales& scales, const DropoutKey& dropout,
                   const GradientsReady& ready) {
  execute({batches, scales, dropout, true, ready, nullptr});
}

LossSums Engine::evaluate(std::span<const MicroBatch> batches, const OnPredictions& predicted) {
  execute({batches, {}, {}, false, nullptr, predicted});
  return take_losses();
}

LossSums Engine::take_losses() {
  const LossSums losses = model_.take_losses();
  return groups_.place.tensor == 0 ? losses : LossSums{};
}

std::vector<PipelineOp> Engine::schedule_of(int stage, const Run& run) const {
  const int micro_batches = static_cast<int>(run.batches.size());
  return run.training ? training_schedule(shape_, stage, micro_batches)
                      : evaluation_schedule(shape_, micro_batches);
}

void Engine::execute(const Run& run) {
  if (shape_.stages > 1) expect_messages(run);
  for (const PipelineOp& op : schedule_of(stage_, run)) {
    inputs_.resize(std::max(inputs_.size(), static_cast<std::size_t>(op.slot) + 1));
    if (op.direction == Direction::forward)
      forward(op, run);
    else
      backward(op, run);
  }
  transport_.finish();
  if (run.training && shares_embeddings()) {
    sum_embeddings();
    run.ready(0, shared_end_);
  }
  model_.fetch_losses();
}

void Engine::expect_messages(const Run& run) {
  std::vector<std::vector<PipelineMessage>> messages(static_cast<std::size_t>(shape_.stages));
  for (const int peer : {stage_before(shape_, stage_), stage_after(shape_, stage_)})
    messages[static_cast<std::size_t>(peer)] = messages_between(shape_, schedule_of(peer, run), peer, stage_);
  std::vector<std::size_t> bytes;
  for (const MicroBatch& batch : run.batches)
    bytes.push_back(static_cast<std::size_t>(model_.boundary_shape(batch).size()) *
                    size_of(model_.boundary_type()));
  transport_.begin(std::move(messages), std::move(bytes));
}

MessageBuffer Engine::receive(const PipelineOp& op, int from) {
  const ProfileScope profile(context_, "pipeline_receive");
  return transport_.receive(op, from);
}

ConstTensorView Engine::received(const MessageBuffer& buffer, const MicroBatch& batch) const {
  return {buffer.memory.get(), model_.boundary_type(), model_.boundary_shape(batch)};
}

void Engine::forward(const PipelineOp& op, const Run& run) {
  const ProfilePhase profile(context_, run.training ? "forward" : "evaluate");
  MessageBuffer& input = inputs_[static_cast<std::size_t>(op.slot)];
  ConstTensorView values;
  if (!is_model_begin(stage_, op.chunk)) {
    input = receive(op, stage_before(shape_, stage_));
    values = received(input, run.batch(op));
  }
  const ConstTensorView output = model_.forward(op.chunk, op.slot, run.pass(op), values);
  if (!is_model_end(shape_, stage_, op.chunk))
    transport_.send(output, stage_after(shape_, stage_));
  else if (run.predicted && output.address != nullptr && groups_.place.tensor == 0)
    run.predicted(run.batch(op), output);
  if (!run.training && input.memory) transport_.give_back(std::move(input));
}

void Engine::backward(const PipelineOp& op, const Run& run) {
  const ProfilePhase profile(context_, "backward");
  MessageBuffer gradient;
  ConstTensorView values;
  if (!is_model_end(shape_, stage_, op.chunk)) {
    gradient = receive(op, stage_after(shape_, stage_));
    values = received(gradient, run.batch(op));
  }
  const auto ready = [&](std::int64_t begin, std::int64_t end) { announce(begin, end, run.ready); };
  const bool last = op.micro_batch == static_cast<int>(run.batches.size()) - 1;
  const ConstTensorView dinput = model_.backward(op.chunk, op.slot, run.pass(op), values,
                                                 last ? GradientsReady(ready) : GradientsReady());
  if (!is_model_begin(stage_, op.chunk)) {
    transport_.send(dinput, stage_before(shape_, stage_));
    transport_.give_back(std::move(inputs_[static_cast<std::size_t>(op.slot)]));
  }
  if (gradient.memory) transport_.give_back(std::move(gradient));
}

// The range with the shared embeddings waits until this stage has nothing more to send: the other end may
// need it before it gets there itself.
void Engine::announce(std::int64_t begin, std::int64_t end, const GradientsReady& ready) {
  if (groups_.tensor->size() > 1) sum_partial(begin, end);
  if (begin == 0 && shares_embeddings())
    shared_end_ = end;
  else
    ready(begin, end);
}

// Under sequence parallelism a tensor rank has seen only its own rows of what norms and biases scale.
void Engine::sum_partial(std::int64_t begin, std::int64_t end) {
  ParameterStore& parameters = model_.parameters();
  std::vector<std::span<float>> parts;
  for (const Parameter& p : parameters.list())
    if (p.partial_over_tensor && p.offset >= begin && p.offset < end)
      parts.push_back(parameters.gradients(p));
  if (parts.empty()) return;
  std::int64_t count = 0;
  for (const std::span<float> part : parts) count += static_cast<std::int64_t>(part.size());
  const ArenaScope scope(partial_);
  const TensorView sums = partial_.allocate(DType::f32, Shape{count});
  float* at = sums.data<float>();
  for (const std::span<float> part : parts) {
    context_.memory.copy(at, part.data(), part.size_bytes());
    at += part.size();
  }
  groups_.tensor->all_reduce(sums).get();
  at = sums.data<float>();
  for (const std::span<float> part : parts) {
    context_.memory.copy(part.data(), at, part.size_bytes());
    at += part.size();
  }
}

// The word embeddings, of the first stage and of the last one's head, are first in the store of both.
void Engine::sum_embeddings() {
  ParameterStore& parameters = model_.parameters();
  const Parameter& embeddings = parameters.list().front();
  PODIUM_CHECK(embeddings.tied_copy == groups_.last_stage(), "the word embeddings are first in the store");
  groups_.ends->all_reduce(parameters.gradients(embeddings)).get();
}

}  // namespace podium
