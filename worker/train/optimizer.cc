#include "worker/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/base/check.h"
#include "worker/checkpoint/manifest.h"

namespace podium {
namespace {

constexpr std::int64_t kChunk = 1 << 15;

std::unique_ptr<Optimizer> make(Optimizer::Parts parts) {
  switch (parts.spec.name) {
    case OptimizerKind::adamw:
      return make_adamw(std::move(parts));
    case OptimizerKind::lamb:
      return make_lamb(std::move(parts));
  }
  throw std::invalid_argument("unknown optimizer");
}

std::int64_t length_of(std::span<const FlatRange> ranges) {
  std::int64_t length = 0;
  for (const FlatRange& range : ranges) length += range.size();
  return length;
}

}  // namespace

double clip_factor(double norm, double clip) { return clip > 0 && norm > clip ? clip / norm : 1; }

Optimizer::Optimizer(Parts parts, const std::vector<std::string>& states)
    : context_(parts.context),
      threads_(parts.context.threads),
      spec_(parts.spec),
      groups_(parts.groups),
      shares_embeddings_(groups_ != nullptr && groups_->ends->size() > 1 &&
                         parts.parameters.begins_with_tied()),
      shard_(std::move(parts.shard)),
      whole_(length_of(shard_) == static_cast<std::int64_t>(parts.parameters.weights().size())),
      fetched_sums_(parts.context.memory) {
  PODIUM_CHECK(states.size() <= OptimizerShard::kMostStates, "a shard has room for the states");
  for (const std::string& name : states) {
    PODIUM_CHECK(name != kWeights && std::ranges::count(states, name) == 1,
                 "a state has a name of its own in checkpoints");
    states_.push_back({name, Tensor(DType::f32, {length_of(shard_)}, context_.memory.device)});
  }
  for (std::size_t index = 0; index < parts.parameters.list().size(); ++index) {
    const Parameter& parameter = parts.parameters.list()[index];
    const bool sliced = parameter.slice.axis >= 0;
    counts_here_.push_back(!parameter.tied_copy &&
                           (sliced || groups_ == nullptr || groups_->place.tensor == 0));
    decays_.push_back(parameter.decay && spec_.weight_decay != 0);
    add_chunks(index, parameter);
  }
  if (on_device()) upload_chunks();
}

std::vector<OptimizerState> Optimizer::states() {
  std::vector<OptimizerState> states;
  for (State& state : states_) states.push_back({state.name, state.values.view().values<float>()});
  return states;
}

void Optimizer::upload_chunks() {
  for (const OptimizerState& state : states())
    context_.memory.clear(state.values.data(), state.values.size_bytes());
  context_.memory.upload<OptimizerChunk>(room_for<OptimizerChunk>(device_chunks_, chunks_.size()), chunks_);
}

OptimizerShard Optimizer::shard_of(ParameterStore& parameters) {
  OptimizerShard shard{
      .chunks = chunks_, .weights = parameters.weights().data(), .gradients = parameters.gradients().data()};
  for (std::size_t i = 0; i < states_.size(); ++i) shard.states[i] = states_[i].values.view().data<float>();
  if (on_device()) shard.chunks = room_for<OptimizerChunk>(device_chunks_, chunks_.size());
  if (narrows(parameters)) {
    const TensorView narrowed = parameters.narrowed();
    shard.narrowed = narrowed.address;
    shard.narrowed_type = narrowed.dtype;
  }
  return shard;
}

void Optimizer::add_chunks(std::size_t index, const Parameter& parameter) {
  std::int64_t before = 0;  // elements of earlier ranges
  for (const FlatRange& range : shard_) {
    const std::int64_t end = std::min(range.end, parameter.offset + parameter.size());
    for (std::int64_t begin = std::max(range.begin, parameter.offset); begin < end; begin += kChunk)
      chunks_.push_back({begin, before + begin - range.begin, std::min(kChunk, end - begin),
                         static_cast<std::int32_t>(index), decays_[index] ? 1 : 0});
    before += range.size();
  }
}

void Optimizer::about_to_change(const OptimizerShard& shard, const OptimizerChunk& chunk,
                                const BeforeChange& before_change) const {
  if (!before_change) return;
  const auto count = static_cast<std::size_t>(chunk.count);
  before_change(std::as_bytes(std::span(shard.weights + chunk.begin, count)));
  for (std::size_t i = 0; i < states_.size(); ++i)
    before_change(std::as_bytes(std::span(shard.states[i] + chunk.states, count)));
}

std::vector<double> Optimizer::squares_of_chunks(ParameterStore& parameters) {
  if (on_device()) {
    const std::span<double> sums = room_for<double>(device_sums_, chunks_.size());
    ops::sum_of_squares(context_, shard_of(parameters), sums);
    fetched_sums_.fetch(sums);
    const std::span<const double> arrived = fetched_sums_.arrived<double>();
    return {arrived.begin(), arrived.end()};
  }
  const float* const gradients = parameters.gradients().data();
  std::vector<double> squares(chunks_.size());
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::size_t c = 0; c < chunks_.size(); ++c)
    squares[c] = sum_of_squares(gradients + chunks_[c].begin, static_cast<std::size_t>(chunks_[c].count));
  return squares;
}

double Optimizer::gradient_norm(ParameterStore& parameters) {
  const std::vector<double> squares = squares_of_chunks(parameters);
  double sum = 0;
  for (std::size_t c = 0; c < chunks_.size(); ++c)
    if (counts_here_[static_cast<std::size_t>(chunks_[c].parameter)]) sum += squares[c];
  if (groups_ != nullptr) {
    groups_->model->all_reduce(std::span(&sum, 1)).get();
    if (!whole_) groups_->data->all_reduce(std::span(&sum, 1)).get();
  }
  return std::sqrt(sum);
}

void Optimizer::update(ParameterStore& parameters, std::int64_t step, double learning_rate,
                       double gradient_scale, const BeforeChange& before_change) {
  if (on_device() && before_change) {
    before_change(std::as_bytes(parameters.weights()));
    for (const OptimizerState& state : states()) before_change(std::as_bytes(state.values));
  }
  update_chunks(shard_of(parameters), rates_of(spec_, step, learning_rate, gradient_scale), before_change);
  clear_outside_shard(parameters);
  if (narrows(parameters))
    parameters.weights_and_narrowed_changed();
  else
    parameters.weights_changed();
}

bool Optimizer::holds_whole_parameters() const {
  return groups_ == nullptr || (groups_->tensor->size() == 1 && whole_ && !shares_embeddings_);
}

void Optimizer::sum_over_holders(std::vector<Squares>& sums) {
  if (groups_ == nullptr) return;
  std::vector<double> values;
  for (std::size_t p = 0; p < sums.size(); ++p)
    for (const double value : {sums[p].weights, sums[p].direction})
      values.push_back(counts_here_[p] ? value : 0);
  groups_->tensor->all_reduce(std::span(values)).get();
  if (!whole_) groups_->data->all_reduce(std::span(values)).get();
  // The last stage's copy of the word embeddings must move exactly as the first stage's.
  if (shares_embeddings_) groups_->ends->all_reduce(std::span(values).first(2)).get();
  for (std::size_t p = 0; p < sums.size(); ++p) sums[p] = {values[2 * p], values[2 * p + 1]};
}

void Optimizer::clear_outside_shard(ParameterStore& parameters) {
  const std::span<float> gradients = parameters.gradients();
  const auto clear = [&](std::int64_t begin, std::int64_t end) {
    float* const values = gradients.data();
    if (on_device())
      return context_.memory.clear(values + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
#pragma omp parallel for simd num_threads(threads_) schedule(static)
    for (std::int64_t i = begin; i < end; ++i) values[i] = 0;
  };
  std::int64_t begin = 0;
  for (const FlatRange& range : shard_) {
    clear(begin, range.begin);
    begin = range.end;
  }
  clear(begin, static_cast<std::int64_t>(gradients.size()));
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          std::vector<FlatRange> shard, const ParallelGroups& groups,
                                          Context& context) {
  return make({spec, parameters, std::move(shard), &groups, context});
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          Context& context) {
  return make(
      {spec, parameters, {{0, static_cast<std::int64_t>(parameters.weights().size())}}, nullptr, context});
}

}  // namespace podium
