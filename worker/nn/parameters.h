// A model's parameters: a flat f32 buffer of master weights, another of gradients, and a table that names
// their parts. Optimizers, all-reduce and checkpoints work on the flat buffers. Parameters start at multiples
// of 16 elements; the gaps between them are zero in both buffers and must stay zero. Both buffers lie in the
// store's memory space, and the host may read them only if that is the host's memory.
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
  Shape shape;        // of the part that this rank holds
  bool decay = true;  // false for biases and LayerNorm: no weight decay
  Initializer initializer = Initializer::normal;
  double deviation = 1.0;  // of Initializer::normal, in units of the model's initializer_range
  Slice slice;
  bool partial_over_tensor = false;  // each rank's gradient is a term of the sum over the tensor group
  bool prunable = false;             // a weight of a layer's product (layer_products.h)
  // The word embeddings where the head decodes by them: the first and the last stage of a pipeline hold them.
  bool tied = false;
  bool tied_copy = false;   // the last stage's copy of them
  std::int64_t offset = 0;  // into weights() and gradients(), in elements; the store sets it

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
  // Makes the two buffers, all zero. Their length is rounded up to a multiple of `multiple`.
  void allocate(std::int64_t multiple = 1);

  std::span<const Parameter> list() const { return parameters_; }
  const Parameter* find(std::string_view name) const;  // nullptr if there is none
  const Parameter& operator[](ParameterId id) const { return parameters_[id.index]; }
  // Whether the first and the last stage of a pipeline, of which this is one, share the word embeddings,
  // which are then the first parameter of both.
  bool begins_with_tied() const { return !parameters_.empty() && parameters_.front().tied; }

  std::span<float> weights() { return weights_.view().values<float>(); }
  std::span<const float> weights() const { return weights_.view().values<float>(); }
  std::span<float> gradients() { return gradients_.view().values<float>(); }

  std::span<float> weights(const Parameter& p) { return part(weights(), p); }
  std::span<const float> weights(const Parameter& p) const { return part(weights(), p); }
  std::span<float> gradients(const Parameter& p) { return part(gradients(), p); }

  // A parameter as a tensor; or `count` parameters that were declared one after another, stacked along the
  // first axis.
  ConstTensorView weight(ParameterId first, int count = 1) const;
  TensorView gradient(ParameterId first, int count = 1);

  std::int64_t end() const { return size_; }  // of what is declared so far, in elements of the buffers
  std::int64_t parameter_count() const;       // without the gaps

  // Draws fresh weights. Each follows from (seed, parameter name, index in the whole parameter) alone, so a
  // slice gets the same values as the whole has there, with any number of threads. Calls weights_changed().
  void initialise(std::uint64_t seed, double initializer_range, int threads = 1);
  void clear_gradients(int threads = 1);

  // Call this after every change of weights(): layers then renew their converted copies before they run
  // again.
  void weights_changed() { ++generation_; }
  // The same for a change that also updated narrowed().
  void weights_and_narrowed_changed() {
    narrowed_generation_ = narrowed_generation_ == generation_ ? generation_ + 1 : 0;
    weights_changed();
  }
  std::int64_t generation() const { return generation_; }

  // On a device: renews the copies of weights in other types than f32 if the weights have changed since the
  // last call. Call this before work that is recorded, which cannot renew them. `compute` is the type of
  // activations; `fp8` says that the layers' dense layers multiply in 8 bits.
  void renew_copies(Context& context, DType compute, bool fp8);
  // Whoever keeps such copies says how they are renewed, once, when it declares the weights.
  using Renewal = std::function<void(Context& context, DType compute, bool fp8)>;
  void add_renewal(Renewal renewal) { renewals_.push_back(std::move(renewal)); }

  // On a device, for layers that compute in 16 bits: a copy of all weights in that type, at the same places
  // as in weights(). renew_copies() makes it, and renews it in one launch.
  TensorView narrowed() { return narrowed_.view(); }  // has no address if there is none
  // The copy of the parameters that weight() returns. It has no address if it is outdated, or if copies are
  // rounded at random.
  ConstTensorView narrowed(ParameterId first, int count = 1) const;
  bool rounds_stochastically() const { return rounding_key_.has_value(); }

  // Makes the layers' products round their weights as inference in this 8-bit type does
  // (ops/fake_quantise.h).
  void quantise(DType type) { quantised_to_ = type; }
  std::optional<DType> quantised_to() const { return quantised_to_; }

  // Makes layers round their 16-bit copies of weights at random, by draws of this step, until the next step.
  void round_stochastically(std::uint64_t seed, std::int64_t step);
  // How to round the parameters that weight() returns; nothing if their copies are rounded to nearest.
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
  std::int64_t renewed_generation_ = 0;  // for which renew_copies() was called last
  std::optional<PhiloxKey> rounding_key_;
  std::optional<DType> quantised_to_;
};

}  // namespace podium
