#include "worker/nn/parameters.h"

#include <algorithm>

#include "worker/tensor/random.h"

namespace podium {
namespace {

constexpr std::int64_t kOffsetMultiple = kAlignment / sizeof(float);

// FNV-1a: gives every parameter its own random stream, whatever the order of declaration.
std::uint64_t hash(std::string_view name) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

}  // namespace

ParameterId ParameterStore::add(std::string name, const Shape& shape, Initializer initializer, bool decay) {
  PODIUM_CHECK(weights_.shape().rank() == 0, "parameters are declared before they are allocated");
  PODIUM_CHECK(find(name) == nullptr, "two parameters have the same name: " + name);
  parameters_.push_back({std::move(name), shape, size_, decay, initializer});
  size_ = (size_ + shape.size() + kOffsetMultiple - 1) / kOffsetMultiple * kOffsetMultiple;
  return {parameters_.size() - 1};
}

void ParameterStore::allocate() {
  weights_ = Tensor(DType::f32, Shape{size_});
  gradients_ = Tensor(DType::f32, Shape{size_});
}

const Parameter* ParameterStore::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

ConstTensorView ParameterStore::weight(ParameterId id) const {
  const Parameter& p = (*this)[id];
  return view_of(weights(p), p.shape);
}

TensorView ParameterStore::gradient(ParameterId id) {
  const Parameter& p = (*this)[id];
  return view_of(gradients(p), p.shape);
}

std::int64_t ParameterStore::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& p : parameters_) count += p.size();
  return count;
}

void ParameterStore::initialise(std::uint64_t seed, double initializer_range) {
  for (const Parameter& p : parameters_) {
    const std::span<float> values = weights(p);
    switch (p.initializer) {
      case Initializer::zeros:
        std::ranges::fill(values, 0.0F);
        break;
      case Initializer::ones:
        std::ranges::fill(values, 1.0F);
        break;
      case Initializer::normal: {
        Random random(seed, hash(p.name));
        for (float& value : values) value = static_cast<float>(random.normal() * initializer_range);
        break;
      }
    }
  }
  weights_changed();
}

void ParameterStore::clear_gradients() { std::ranges::fill(gradients(), 0.0F); }

}  // namespace podium
