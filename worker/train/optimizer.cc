#include "worker/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace podium {
namespace {

constexpr std::size_t kChunk = 1 << 15;

class AdamW final : public Optimizer {
 public:
  using Optimizer::Optimizer;

 private:
  void update_chunks(ParameterStore& parameters, const Rates& rates,
                     const BeforeChange& before_change) override {
    if (on_device()) return ops::adamw(context_, device_shard(parameters), rates);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (const Chunk& chunk : chunks_)
      adamw(rates, chunk.decay ? rates.weight_decay : 0,
            elements_to_change(parameters, chunk, before_change));
  }
};

// LAMB (You et al., 2020) as in NVIDIA's recipe (apex, multi_tensor_lamb.cu): each decayed parameter moves by
// lr |w| / |u|, the others, and all where there is no weight decay, by lr.
class Lamb final : public Optimizer {
 public:
  using Optimizer::Optimizer;

 private:
  void update_chunks(ParameterStore& parameters, const Rates& rates,
                     const BeforeChange& before_change) override {
    if (on_device()) return update_on_device(parameters, rates);
    std::vector<Squares> squares(chunks_.size());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::size_t c = 0; c < chunks_.size(); ++c)
      squares[c] = lamb_direction(rates, chunks_[c].decay ? rates.weight_decay : 0,
                                  elements_to_change(parameters, chunks_[c], before_change));
    const std::vector<double> trust = trust_ratios(squares, parameters.list().size());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (const Chunk& chunk : chunks_) {
      const double ratio = chunk.decay ? trust[chunk.parameter] : 1;
      lamb_step(static_cast<float>(static_cast<double>(rates.learning_rate) * ratio),
                elements_of(parameters, chunk));
    }
  }

  void update_on_device(ParameterStore& parameters, const Rates& rates) {
    const MemorySpace& memory = context_.memory;
    const ops::OptimizerShard shard = device_shard(parameters);
    const std::span<Squares> squares = room_for<Squares>(squares_, chunks_.size());
    const std::span<float> scales = room_for<float>(scales_, parameters.list().size());
    ops::lamb_direction(context_, shard, rates, squares);
    if (holds_whole_parameters())
      ops::lamb_scales(context_, shard, chunk_begins(scales.size()), squares, rates.learning_rate, scales);
    else
      memory.upload<float>(scales, scales_of(parameters, rates, memory.downloaded<Squares>(squares)));
    ops::lamb_step(context_, shard, scales);
  }

  // On the device: of each parameter's chunks, which follow one another, and the end.
  std::span<const std::int32_t> chunk_begins(std::size_t parameters) {
    if (chunk_begins_.shape().rank() == 0) {
      std::vector<std::int32_t> begins(parameters + 1);
      for (const Chunk& chunk : chunks_) ++begins[chunk.parameter + 1];
      std::partial_sum(begins.begin(), begins.end(), begins.begin());
      context_.memory.upload<std::int32_t>(room_for<std::int32_t>(chunk_begins_, begins.size()), begins);
    }
    return room_for<std::int32_t>(chunk_begins_, parameters + 1);
  }

  std::vector<float> scales_of(ParameterStore& parameters, const Rates& rates,
                               const std::vector<Squares>& squares) {
    const std::vector<double> trust = trust_ratios(squares, parameters.list().size());
    std::vector<float> scales;
    for (std::size_t p = 0; p < trust.size(); ++p)
      scales.push_back(static_cast<float>(static_cast<double>(rates.learning_rate) *
                                          (decays(parameters.list()[p]) ? trust[p] : 1)));
    return scales;
  }

  // |w| / |u| of each parameter, 1 where either is zero.
  std::vector<double> trust_ratios(const std::vector<Squares>& squares, std::size_t parameters) {
    std::vector<Squares> sums(parameters);
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      sums[chunks_[c].parameter].weights += squares[c].weights;
      sums[chunks_[c].parameter].direction += squares[c].direction;
    }
    sum_over_holders(sums);
    std::vector<double> trust;
    for (const Squares& sum : sums)
      trust.push_back(sum.weights > 0 && sum.direction > 0 ? std::sqrt(sum.weights / sum.direction) : 1);
    return trust;
  }

  Tensor squares_, scales_, chunk_begins_;  // on a device
};

std::unique_ptr<Optimizer> make(const OptimizerSpec& spec, ParameterStore& parameters,
                                std::vector<FlatRange> shard, const ParallelGroups* groups,
                                Context& context) {
  if (spec.name == OptimizerKind::lamb)
    return std::make_unique<Lamb>(spec, parameters, std::move(shard), groups, context);
  return std::make_unique<AdamW>(spec, parameters, std::move(shard), groups, context);
}

std::int64_t length_of(std::span<const FlatRange> ranges) {
  std::int64_t length = 0;
  for (const FlatRange& range : ranges) length += range.size();
  return length;
}

}  // namespace

double clip_factor(double norm, double clip) { return clip > 0 && norm > clip ? clip / norm : 1; }

Optimizer::Optimizer(const OptimizerSpec& spec, ParameterStore& parameters, std::vector<FlatRange> shard,
                     const ParallelGroups* groups, Context& context)
    : spec_(spec),
      context_(context),
      threads_(context.threads),
      groups_(groups),
      shard_(std::move(shard)),
      whole_(length_of(shard_) == static_cast<std::int64_t>(parameters.weights().size())),
      first_(DType::f32, {length_of(shard_)}, context.memory.device),
      second_(DType::f32, {length_of(shard_)}, context.memory.device),
      fetched_sums_(context.memory) {
  for (std::size_t index = 0; index < parameters.list().size(); ++index) {
    const Parameter& parameter = parameters.list()[index];
    const bool sliced = parameter.slice.axis >= 0;
    counts_here_.push_back(!parameter.tied_copy &&
                           (sliced || groups == nullptr || groups->place.tensor == 0));
    add_chunks(index, parameter);
  }
  if (on_device()) upload_chunks();
}

void Optimizer::upload_chunks() {
  for (const std::span<float> moments : {first_moment(), second_moment()})
    context_.memory.clear(moments.data(), moments.size_bytes());
  std::vector<ops::OptimizerChunk> table;
  for (const Chunk& chunk : chunks_)
    table.push_back({static_cast<std::int64_t>(chunk.begin), static_cast<std::int64_t>(chunk.moments),
                     static_cast<std::int64_t>(chunk.count), static_cast<std::int32_t>(chunk.parameter),
                     chunk.decay ? 1 : 0});
  context_.memory.upload<ops::OptimizerChunk>(room_for<ops::OptimizerChunk>(device_chunks_, table.size()),
                                              table);
}

ops::OptimizerShard Optimizer::device_shard(ParameterStore& parameters) {
  return {{static_cast<const ops::OptimizerChunk*>(device_chunks_.view().address), chunks_.size()},
          parameters.weights().data(),
          parameters.gradients().data(),
          first_moment().data(),
          second_moment().data(),
          narrows(parameters) ? parameters.narrowed().address : nullptr,
          parameters.narrowed().dtype};
}

void Optimizer::add_chunks(std::size_t index, const Parameter& parameter) {
  std::int64_t moments = 0;  // where the range's begin
  for (const FlatRange& range : shard_) {
    const std::int64_t end = std::min(range.end, parameter.offset + parameter.size());
    for (std::int64_t begin = std::max(range.begin, parameter.offset); begin < end;
         begin += static_cast<std::int64_t>(kChunk))
      chunks_.push_back({index, static_cast<std::size_t>(begin),
                         static_cast<std::size_t>(moments + begin - range.begin),
                         std::min(kChunk, static_cast<std::size_t>(end - begin)), decays(parameter)});
    moments += range.size();
  }
}

Elements Optimizer::elements_of(ParameterStore& parameters, const Chunk& chunk) {
  return {parameters.weights().data() + chunk.begin, parameters.gradients().data() + chunk.begin,
          first_moment().data() + chunk.moments, second_moment().data() + chunk.moments, chunk.count};
}

Elements Optimizer::elements_to_change(ParameterStore& parameters, const Chunk& chunk,
                                       const BeforeChange& before_change) {
  const Elements elements = elements_of(parameters, chunk);
  if (before_change)
    for (const float* const values : {elements.weights, elements.first, elements.second})
      before_change(std::as_bytes(std::span(values, chunk.count)));
  return elements;
}

std::vector<double> Optimizer::squares_of_chunks(ParameterStore& parameters) {
  if (on_device()) {
    const std::span<double> sums = room_for<double>(device_sums_, chunks_.size());
    ops::sum_of_squares(context_, device_shard(parameters), sums);
    fetched_sums_.fetch(sums);
    const std::span<const double> arrived = fetched_sums_.arrived<double>();
    return {arrived.begin(), arrived.end()};
  }
  const float* const gradients = parameters.gradients().data();
  std::vector<double> squares(chunks_.size());
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::size_t c = 0; c < chunks_.size(); ++c)
    squares[c] = sum_of_squares(gradients + chunks_[c].begin, chunks_[c].count);
  return squares;
}

double Optimizer::gradient_norm(ParameterStore& parameters) {
  const std::vector<double> squares = squares_of_chunks(parameters);
  double sum = 0;
  for (std::size_t c = 0; c < chunks_.size(); ++c)
    if (counts_here_[chunks_[c].parameter]) sum += squares[c];
  if (groups_ != nullptr) {
    groups_->model->all_reduce(std::span(&sum, 1)).get();
    if (!whole_) groups_->data->all_reduce(std::span(&sum, 1)).get();
  }
  return std::sqrt(sum);
}

void Optimizer::update(ParameterStore& parameters, std::int64_t step, double learning_rate,
                       double gradient_scale, const BeforeChange& before_change) {
  if (on_device() && before_change)
    for (const std::span<float> all : {parameters.weights(), first_moment(), second_moment()})
      before_change(std::as_bytes(all));
  update_chunks(parameters, rates_of(spec_, step, learning_rate, gradient_scale), before_change);
  clear_outside_shard(parameters);
  if (narrows(parameters))
    parameters.weights_and_narrowed_changed();
  else
    parameters.weights_changed();
}

bool Optimizer::holds_whole_parameters() const {
  return groups_ == nullptr || (groups_->tensor->size() == 1 && whole_ && groups_->ends->size() == 1);
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
  if (groups_->ends->size() > 1) groups_->ends->all_reduce(std::span(values).first(2)).get();
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
  return make(spec, parameters, std::move(shard), &groups, context);
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          Context& context) {
  return make(spec, parameters, {{0, static_cast<std::int64_t>(parameters.weights().size())}}, nullptr,
              context);
}

}  // namespace podium
