#include "worker/train/job_model.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>

#include "common/model/layout_rules.h"
#include "worker/data/failure.h"
#include "worker/train/sum_over.h"

namespace podium {
namespace {

// On the CPU they are computed in software.
void check_float8_device(const Device* device) {
  constexpr int kLeast = 89;
  if (device == nullptr) return;
  const DeviceDescription& description = device->description();
  int architecture = 0;
  if (std::sscanf(description.architecture.c_str(), "sm_%d", &architecture) == 1 && architecture >= kLeast)
    return;
  throw Failure(
      WorkerExit::bad_spec,
      fmt::format("training.fp8 needs a GPU that multiplies FP8, sm_{} or later, and {} is {}: leave "
                  "training.fp8 out, or ask for nodes with newer GPUs by resources.nodes",
                  kLeast, description.name, description.architecture));
}

void check_sparse(const JobSpec& spec, const ModelSpec& model) {
  if (spec.training.sparse == Sparsity::none) return;
  if (model.family != ModelFamily::bert)
    throw Failure(WorkerExit::bad_spec,
                  "training.sparse is for bert, which alone has inference with pruned weights; leave it out");
  const int unit = layout_rules(spec.parallel).sparse_unit();
  if (model.hidden % unit != 0 || model.intermediate % unit != 0)
    throw Failure(WorkerExit::bad_spec,
                  fmt::format("training.sparse needs model.hidden ({}) and model.intermediate ({}) to be "
                              "multiples of {} x parallel.tensor ({})",
                              model.hidden, model.intermediate, kSparseMultiple, spec.parallel.tensor));
}

}  // namespace

ParallelLayout layout_of(const JobSpec& spec, int world) {
  const int copy = layout_rules(spec.parallel).devices_unit();
  if (copy < 1 || world % copy != 0)
    throw Failure(WorkerExit::bad_spec,
                  fmt::format("{} devices are no multiple of parallel.tensor x parallel.pipeline ({} x {})",
                              world, spec.parallel.tensor, spec.parallel.pipeline));
  return {.tensor = spec.parallel.tensor, .pipeline = spec.parallel.pipeline, .data = world / copy};
}

ModelSpec model_of(const JobSpec& spec, int tokens) {
  ModelSpec model = spec.model;
  if (model.vocab == 0) model.vocab = (tokens + 7) / 8 * 8;
  if (model.vocab < tokens)
    throw Failure(WorkerExit::bad_spec,
                  fmt::format("model.vocab is {} but the tokenizer has {} tokens; leave model.vocab out",
                              model.vocab, tokens));
  return model;
}

std::unique_ptr<Model> make_job_model(Context& context, const JobSpec& spec, const ModelSpec& model,
                                      const HeadPlan& head, const ParallelGroups& groups) {
  if (spec.training.fp8) check_float8_device(context.memory.device);
  check_sparse(spec, model);
  const ModelOptions options{.precision = spec.training.precision,
                             .fp8 = spec.training.fp8,
                             .quantise = spec.training.quantise,
                             .recompute = spec.training.recompute,
                             .recompute_layers = spec.training.recompute_layers,
                             .unpadded = spec.training.unpadded,
                             .sequence_parallel = spec.parallel.sequence,
                             .interleave = spec.parallel.interleave,
                             .head = head};
  try {
    return make_model(context, model, options, groups);
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, error.what());
  }
}

std::int64_t model_parameters(const ParameterStore& parameters, const ParallelGroups& groups) {
  Sums count{0};
  for (const Parameter& p : parameters.list())
    if (!p.tied_copy && (p.slice.axis >= 0 || groups.place.tensor == 0))
      count[0] += static_cast<double>(p.size());
  sum_over(*groups.model, count);
  return static_cast<std::int64_t>(count[0]);
}

}  // namespace podium
