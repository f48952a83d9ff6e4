// A model's parameters: one flat f32 buffer of master weights, one of gradients, and the table that names the
// parts. Optimizers, all-reduce and checkpoints work on the flat buffers. Parameters start at multiples of 16
// elements; the gaps between them are zero in both buffers and must stay so. Both lie in the memory space
// that the store is made for: only where that is the host's may the host look into them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/ops/stochastic_rounding.h"
#include "worker/tensor/context.h"
#include "worker/tensor/memory_space.h"
#include "worker/tensor/tensor.h"

namespace podium {

enum class Initializer { normal, zeros, ones };

// The part of a whole parameter that a tensor-parallel rank holds: indices [begin, begin + shape[axis]) of
// one axis.
struct Slice {
  int axis = -1;  // -1: all of it
  std::int64_t begin = 0;
  std::int64_t full = 0;  // extent of the axis
};

struct Parameter {
  std::string name;   // as in Hugging Face's checkpoints
  Shape shape;        // of what is held here
  bool decay = true;  // false for biases and LayerNorm: no weight decay
  Initializer initializer = Initializer::normal;
  double deviation = 1.0;  // of Initializer::normal, in units of the model's initializer_range
  Slice slice;
  bool partial_over_tensor = false;  // each rank's gradient is a term of the sum over the tensor group
  bool tied_copy = false;            // the last stage's copy of the first stage's word embeddings
  std::int64_t offset = 0;           // into weights() and gradients(), in elements; the store sets it

  std::int64_t size() const { return shape.size(); }
  Shape full_shape() const;
};

// A parameter's place in its store.
struct ParameterId {
  std::size_t index = 0;
};

class ParameterStore {
 public:
  ParameterStore() = default;  // in host memory
  explicit ParameterStore(MemorySpace memory) : memory_(memory) {}

  const MemorySpace& memory() const { return memory_; }

  // Declares the next parameter; only before `allocate`.
  ParameterId add(Parameter declaration);
  ParameterId add(std::string name, const Shape& shape, Initializer initializer, bool decay);
  // Makes the two buffers, all zero, their length rounded up to a multiple of `multiple`.
  void allocate(std::int64_t multiple = 1);

  std::span<const Parameter> list() const { return parameters_; }
  const Parameter* find(std::string_view name) const;  // nullptr where there is none
  const Parameter& operator[](ParameterId id) const { return parameters_[id.index]; }

  std::span<float> weights() { return weights_.view().values<float>(); }
  std::span<const float> weights() const { return weights_.view().values<float>(); }
  std::span<float> gradients() { return gradients_.view().values<float>(); }

  std::span<float> weights(const Parameter& p) { return part(weights(), p); }
  std::span<const float> weights(const Parameter& p) const { return part(weights(), p); }
  std::span<float> gradients(const Parameter& p) { return part(gradients(), p); }

  // A parameter, or `count` of them declared in a row and stacked along the first axis, as one tensor.
  ConstTensorView weight(ParameterId first, int count = 1) const;
  TensorView gradient(ParameterId first, int count = 1);

  std::int64_t end() const { return size_; }  // of the buffers as declared so far, in elements
  std::int64_t parameter_count() const;       // without the gaps

  // Fresh weights: each a function of (seed, parameter name, index in the whole parameter) alone, so a slice
  // gets what the whole would have there, by any number of threads. Ends with weights_changed().
  void initialise(std::uint64_t seed, double initializer_range, int threads = 1);
  void clear_gradients(int threads = 1);

  // To be called after every change of weights(): layers then renew their converted copies when they next
  // run.
  void weights_changed() { ++generation_; }
  // The same, where narrowed() has been changed alike.
  void weights_and_narrowed_changed() {
    narrowed_generation_ = narrowed_generation_ == generation_ ? generation_ + 1 : 0;
    weights_changed();
  }
  std::int64_t generation() const { return generation_; }

  // On a device, ahead of work that is recorded and cannot do it: renews the copies of weights in other types
  // than f32, where the weights have changed since the last call. `compute`: the type of activations; `fp8`:
  // the layers' dense layers multiply in 8 bits.
  void renew_copies(Context& context, DType compute, bool fp8);
  // Whoever keeps such copies says once, when it declares the weights, how they are renewed.
  using Renewal = std::function<void(Context& context, DType compute, bool fp8)>;
  void add_renewal(Renewal renewal) { renewals_.push_back(std::move(renewal)); }

  // On a device, for layers that compute in 16 bits: one copy of all weights in such a type, each where it is
  // in weights(). renew_copies() makes it, and renews it in one launch.
  TensorView narrowed() { return narrowed_.view(); }  // without an address where there is none
  // Of stacked parameters as `weight` gives them; without an address where it is outdated, or where copies
  // are rounded at random.
  ConstTensorView narrowed(ParameterId first, int count = 1) const;
  bool rounds_stochastically() const { return rounding_key_.has_value(); }

  // Until the next step layers round their 16-bit copies of weights at random, by draws of this step.
  void round_stochastically(std::uint64_t seed, std::int64_t step);
  // Of stacked parameters as `weight` gives them; nothing where the copies are rounded to nearest.
  std::optional<ops::StochasticRounding> rounding(ParameterId first, int count = 1) const;

 private:
  void renew_narrowed(Context& context, DType type);
  // Where `count` stacked parameters lie; they must have no gap between them.
  Parameter stacked(ParameterId first, int count) const;

  template <class T>
  static std::span<T> part(std::span<T> all, const Parameter& p) {
    return all.subspan(static_cast<std::size_t>(p.offset), static_cast<std::size_t>(p.size()));
  }

  MemorySpace memory_;
  std::vector<Parameter> parameters_;
  std::int64_t size_ = 0;
  Tensor weights_;
  Tensor gradients_;
  Tensor narrowed_;
  std::int64_t narrowed_generation_ = 0;
  std::int64_t generation_ = 1;
  std::vector<Renewal> renewals_;
  std::int64_t renewed_generation_ = 0;  // that renew_copies() has been called for
  std::optional<PhiloxKey> rounding_key_;
};

}  // namespace podium
