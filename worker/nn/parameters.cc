#include "worker/nn/parameters.h"

#include <algorithm>

#include "worker/ops/linear.h"
#include "worker/tensor/profiler.h"
#include "worker/tensor/random.h"
#include "worker/tensor/shape.h"

namespace podium {
namespace {

constexpr std::int64_t kOffsetMultiple = kAlignment / sizeof(float);

// FNV-1a: gives every parameter its own random stream, whatever the order of declaration.
std::uint64_t hash(std::string_view name) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

// Where a slice's elements lie in the whole parameter: runs of neighbours, one every `pitch` elements.
struct Runs {
  std::int64_t length, first, pitch;
};

Runs runs_of(const Parameter& p) {
  if (p.slice.axis < 0) return {p.size(), 0, p.size()};
  std::int64_t inner = 1;
  for (int axis = p.slice.axis + 1; axis < p.shape.rank(); ++axis) inner *= p.shape[axis];
  return {p.shape[p.slice.axis] * inner, p.slice.begin * inner, p.slice.full * inner};
}

constexpr std::uint64_t kDrawsPerNormal = 4;
constexpr std::int64_t kDrawnTogether = 4096;  // by one thread

// Elements [begin, begin + values.size()) of the slice.
void draw_normal(const Parameter& p, std::uint64_t seed, double deviation, std::int64_t begin,
                 std::span<float> values) {
  const Runs runs = runs_of(p);
  Random random(seed, hash(p.name));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t element = begin + static_cast<std::int64_t>(i), place = element % runs.length;
    if (i == 0 || place == 0) {
      const std::int64_t in_whole = runs.first + element / runs.length * runs.pitch + place;
      random.seek(static_cast<std::uint64_t>(in_whole) * kDrawsPerNormal);
    }
    values[i] = static_cast<float>(random.normal() * deviation);
  }
}

// The same bits however many threads draw them.
void fill_normal(const Parameter& p, std::uint64_t seed, double deviation, std::int64_t begin,
                 std::span<float> values, int threads) {
  const auto count = static_cast<std::int64_t>(values.size());
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t first = 0; first < count; first += kDrawnTogether) {
    const auto part = values.subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(std::min(kDrawnTogether, count - first)));
    draw_normal(p, seed, deviation, begin + first, part);
  }
}

void fill(const Parameter& p, std::uint64_t seed, double initializer_range, std::int64_t begin,
          std::span<float> values, int threads) {
  if (p.initializer == Initializer::normal)
    fill_normal(p, seed, p.deviation * initializer_range, begin, values, threads);
  else
    std::ranges::fill(values, p.initializer == Initializer::ones ? 1.0F : 0.0F);
}

}  // namespace

Shape Parameter::full_shape() const {
  Shape full = shape;
  if (slice.axis >= 0) full = full.with(slice.axis, slice.full);
  return full;
}

ParameterId ParameterStore::add(Parameter declaration) {
  PODIUM_CHECK(weights_.shape().rank() == 0, "parameters are declared before they are allocated");
  PODIUM_CHECK(find(declaration.name) == nullptr, "two parameters have the same name: " + declaration.name);
  declaration.offset = size_;
  size_ = rounded_up(size_ + declaration.size(), kOffsetMultiple);
  parameters_.push_back(std::move(declaration));
  return {parameters_.size() - 1};
}

ParameterId ParameterStore::add(std::string name, const Shape& shape, Initializer initializer, bool decay) {
  Parameter declaration{.name = std::move(name), .shape = shape, .decay = decay, .initializer = initializer};
  return add(std::move(declaration));
}

void ParameterStore::allocate(std::int64_t multiple) {
  size_ = rounded_up(size_, multiple);
  for (Tensor* const buffer : {&weights_, &gradients_}) {
    *buffer = Tensor(DType::f32, Shape{size_}, memory_.device);
    if (!memory_.on_host()) memory_.clear(buffer->view().address, buffer->view().bytes());
  }
}

const Parameter* ParameterStore::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

Parameter ParameterStore::stacked(ParameterId first, int count) const {
  Parameter all = (*this)[first];
  for (int i = 1; i < count; ++i) {
    const Parameter& next = parameters_[first.index + static_cast<std::size_t>(i)];
    const Shape taller = all.shape.with(0, all.shape[0] + next.shape[0]);
    PODIUM_CHECK(next.shape.with(0, taller[0]) == taller && next.offset == all.offset + all.size(),
                 "stacked parameters differ in their first axis alone, are of a multiple of 16 elements, and "
                 "lie side by side");
    all.shape = taller;
  }
  return all;
}

ConstTensorView ParameterStore::weight(ParameterId first, int count) const {
  const Parameter p = stacked(first, count);
  return view_of(weights(p), p.shape);
}

TensorView ParameterStore::gradient(ParameterId first, int count) {
  const Parameter p = stacked(first, count);
  return view_of(gradients(p), p.shape);
}

std::int64_t ParameterStore::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& p : parameters_) count += p.size();
  return count;
}

void ParameterStore::initialise(std::uint64_t seed, double initializer_range, int threads) {
  constexpr std::int64_t kUploadedTogether = std::int64_t{1} << 24;
  std::vector<float> staging;
  for (const Parameter& p : parameters_) {
    const std::span<float> all = weights(p);
    if (memory_.on_host()) {
      fill(p, seed, initializer_range, 0, all, threads);
      continue;
    }
    for (std::int64_t begin = 0; begin < p.size(); begin += kUploadedTogether) {
      staging.resize(static_cast<std::size_t>(std::min(kUploadedTogether, p.size() - begin)));
      fill(p, seed, initializer_range, begin, staging, threads);
      memory_.upload<float>(all.subspan(static_cast<std::size_t>(begin), staging.size()), staging);
    }
  }
  weights_changed();
}

void ParameterStore::renew_copies(Context& context, DType compute, bool fp8) {
  if (memory_.on_host() || renewed_generation_ == generation_) return;
  if (compute != DType::f32 && !rounds_stochastically()) renew_narrowed(context, compute);
  for (const Renewal& renewal : renewals_) renewal(context, compute, fp8);
  renewed_generation_ = generation_;
}

void ParameterStore::renew_narrowed(Context& context, DType type) {
  if (narrowed_.shape() != Shape{size_} || narrowed_.dtype() != type) {
    narrowed_ = Tensor(type, Shape{size_}, memory_.device);
    narrowed_generation_ = 0;
    if (context.profiler != nullptr)
      context.profiler->add_memory("weight copies", static_cast<std::int64_t>(narrowed_.view().bytes()));
  }
  if (narrowed_generation_ == generation_) return;
  ops::narrow_weights(context, weights_.view(), narrowed_.view());
  narrowed_generation_ = generation_;
}

ConstTensorView ParameterStore::narrowed(ParameterId first, int count) const {
  if (narrowed_generation_ != generation_ || rounds_stochastically()) return {};
  const Parameter p = stacked(first, count);
  const auto* const begin = static_cast<const std::byte*>(narrowed_.view().address);
  return {begin + static_cast<std::size_t>(p.offset) * size_of(narrowed_.dtype()), narrowed_.dtype(),
          p.shape};
}

void ParameterStore::round_stochastically(std::uint64_t seed, std::int64_t step) {
  constexpr std::uint64_t kStream = std::uint64_t{1} << 63;  // dropout has the steps themselves
  rounding_key_ = philox_key(seed, kStream + static_cast<std::uint64_t>(step));
  weights_changed();
}

std::optional<ops::StochasticRounding> ParameterStore::rounding(ParameterId first, int count) const {
  if (!rounding_key_) return std::nullopt;
  ops::StochasticRounding rounding{.key = *rounding_key_, .parts = {}};
  for (int i = 0; i < count; ++i) {
    const Parameter& p = parameters_[first.index + static_cast<std::size_t>(i)];
    const std::int64_t full_columns = p.full_shape()[1];
    rounding.parts.push_back({.parameter = hash(p.name),
                              .rows = p.shape[0],
                              .first = p.slice.axis == 0 ? p.slice.begin * full_columns : p.slice.begin,
                              .pitch = full_columns});
  }
  return rounding;
}

void ParameterStore::clear_gradients(int threads) {
  if (!memory_.on_host()) return memory_.clear(gradients().data(), gradients().size_bytes());
  float* const values = gradients().data();
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < size_; ++i) values[i] = 0.0F;
}

}  // namespace podium
