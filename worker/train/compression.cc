#include "worker/train/compression.h"

#include "common/base/check.h"
#include "worker/data/failure.h"
#include "worker/nn/activation_ranges.h"
#include "worker/nn/layer_products.h"
#include "worker/train/pruning.h"

namespace podium {
namespace {

float range_of(const QuantisedInputs& inputs, const std::string& product) {
  const auto found = inputs.ranges.find(product);
  if (found == inputs.ranges.end())
    throw Failure(WorkerExit::bad_data,
                  "cannot resume: the checkpoint has no range of the inputs of " + product);
  return found->second;
}

}  // namespace

void Compression::begin(const std::function<std::vector<float>()>& first_ranges) {
  if (spec_.training.sparse != Sparsity::none) prune_two_of_four(model_.parameters());
  if (model_.ranges() == nullptr || !first_ranges) return;
  std::vector<float> ranges(static_cast<std::size_t>(product_count(spec_.model)));
  if (world_.rank() == 0) ranges = first_ranges();  // the folder of another node may hold others
  PODIUM_CHECK(std::ssize(ranges) == product_count(spec_.model), "every product has a range");
  world_.broadcast(std::as_writable_bytes(std::span(ranges)), 0);
  model_.ranges()->set(std::move(ranges));
}

void Compression::resume(const CheckpointState& state) {
  // None were known where it was saved before the first step.
  if (model_.ranges() == nullptr || state.quantised.ranges.empty()) return;
  std::vector<float> ranges;
  for (int product = 0; product < product_count(spec_.model); ++product)
    ranges.push_back(range_of(state.quantised, product_name(spec_.model, product)));
  model_.ranges()->set(std::move(ranges));
}

void Compression::keep_in(CheckpointState& state) const {
  if (model_.ranges() == nullptr) return;
  const std::vector<float>& ranges = model_.ranges()->averages();
  state.quantised = {.format = spec_.training.quantise->format};
  for (std::size_t i = 0; i < ranges.size(); ++i)
    state.quantised.ranges[product_name(spec_.model, static_cast<int>(i))] = ranges[i];
}

void Compression::prepare(Engine& engine, std::span<const MicroBatch> batches) {
  if (model_.ranges() == nullptr || model_.ranges()->known()) return;
  engine.evaluate(batches);
  model_.ranges()->update(world_);
}

void Compression::gradients_summed() {
  if (spec_.training.sparse != Sparsity::none) clear_pruned_gradients(context_, model_.parameters());
}

void Compression::step_taken() {
  if (model_.ranges() != nullptr) model_.ranges()->update(world_);
}

void Compression::batch_left() {
  if (model_.ranges() != nullptr) model_.ranges()->forget();
}

}  // namespace podium
