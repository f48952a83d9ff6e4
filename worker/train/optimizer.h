// An optimizer over a shard of the flat parameter buffers; the model may be spread over many ranks. Results
// follow from the inputs alone: the bits are the same for any number of threads and any instruction set of a
// CPU, and in every run on one kind of device. Norms count every parameter of the whole model once, however
// it is cut, so every layout trains alike up to rounding.
//
// A new optimizer is a file such as adamw.cc: a class that names its states and updates all chunks, and a row
// in make_optimizer(). Checkpoints, memory and gathering follow the states it names.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/checkpoint/live_bytes.h"
#include "worker/checkpoint/tensors.h"
#include "worker/comm/parallel.h"
#include "worker/nn/flat_range.h"
#include "worker/nn/parameters.h"
#include "worker/tensor/context.h"
#include "worker/tensor/download_buffer.h"
#include "worker/train/optimizer_kernels.h"

namespace podium {

class Optimizer {
 public:
  // All references but the spec must outlive the optimizer.
  struct Parts {
    const OptimizerSpec& spec;
    ParameterStore& parameters;
    std::vector<FlatRange> shard;
    const ParallelGroups* groups;  // none: this process holds the whole model
    Context& context;
  };
  virtual ~Optimizer() = default;

  // The Euclidean norm of the whole model's gradients, with the same bits on every rank. It is not finite if
  // a gradient is not. Waits for a device. Collective over the model group, and over the data group if the
  // shard is not everything.
  double gradient_norm(ParameterStore& parameters);

  // Updates the shard's weights. `step` counts from 1 and corrects the moments' bias. Gradients are first
  // scaled by `gradient_scale`; afterwards all are zero, also outside of the shard, so the next step may add
  // to them. Collective as above. If given, `before_change` is called with the weights and states of each
  // chunk before they change.
  void update(ParameterStore& parameters, std::int64_t step, double learning_rate, double gradient_scale,
              const BeforeChange& before_change = nullptr);

  // The states, which a checkpoint keeps besides the weights. They lie in the parameters' memory.
  std::vector<OptimizerState> states();
  const std::vector<FlatRange>& shard() const { return shard_; }
  bool updates_all() const { return whole_; }  // if not, the caller gathers the other ranks' weights

 protected:
  // `states` names the values that it keeps for each element besides the weight. They begin at zero.
  Optimizer(Parts parts, const std::vector<std::string>& states);

  // Updates the weights of all chunks and clears their gradients.
  //   In host memory: by loops of its own, which call about_to_change() with each chunk first, from any
  //   thread.
  //   On a device: by passes of the back end (worker/ops/optimizer.h); all may change when this is called.
  //   Where shard.narrowed is given, a pass also rounds each weight that it updates into it: update() then
  //   tells the store that these copies are current, and nobody renews them before they are read.
  virtual void update_chunks(const OptimizerShard& shard, const Rates& rates,
                             const BeforeChange& before_change) = 0;

  void about_to_change(const OptimizerShard& shard, const OptimizerChunk& chunk,
                       const BeforeChange& before_change) const;
  // Turns each parameter's sum over this rank's chunks into the sum over all elements of the whole parameter,
  // with the same bits on every rank that holds a part of it.
  void sum_over_holders(std::vector<Squares>& sums);
  bool holds_whole_parameters() const;  // if so, sum_over_holders() changes nothing

  bool on_device() const { return !context_.memory.on_host(); }  // weights, gradients, states and chunks
  // Returns `count` elements of T in `tensor`, which is made if it does not have that size yet.
  template <class T>
  std::span<T> room_for(Tensor& tensor, std::size_t count) const {
    const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
    if (tensor.shape() != Shape{bytes}) tensor = Tensor(DType::u8, Shape{bytes}, context_.memory.device);
    return {static_cast<T*>(tensor.view().address), count};
  }

  Context& context_;
  int threads_;
  std::vector<bool> decays_;            // by parameter: weight decay applies
  std::vector<OptimizerChunk> chunks_;  // each is the work of one thread; in host memory

 private:
  struct State {
    std::string name;
    Tensor values;
  };

  // Whether the update on the device also keeps the 16-bit copies of the weights current.
  bool narrows(const ParameterStore& parameters) const {
    return on_device() && whole_ && !parameters.rounds_stochastically();
  }
  OptimizerShard shard_of(ParameterStore& parameters);
  void upload_chunks();
  std::vector<double> squares_of_chunks(ParameterStore& parameters);
  void add_chunks(std::size_t index, const Parameter& parameter);
  void clear_outside_shard(ParameterStore& parameters);

  OptimizerSpec spec_;
  const ParallelGroups* groups_;  // none: this process holds the whole model
  bool shares_embeddings_;        // with the other end of the pipeline
  std::vector<FlatRange> shard_;
  bool whole_;                     // the shard is everything
  std::vector<bool> counts_here_;  // by parameter: norms take it from this rank
  std::vector<State> states_;
  Tensor device_chunks_;  // chunks_
  Tensor device_sums_;    // a double of each chunk
  DownloadBuffer fetched_sums_;
};

std::unique_ptr<Optimizer> make_adamw(Optimizer::Parts parts);
std::unique_ptr<Optimizer> make_lamb(Optimizer::Parts parts);

// Updates the parameters within `shard` (GradientReducer::shard()) on this rank of `groups`. `groups` and
// `context` must outlive the optimizer. If the first and the last stage share the word embeddings, these are
// the first parameter of both.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          std::vector<FlatRange> shard, const ParallelGroups& groups,
                                          Context& context);
// For a model that this process holds whole.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          Context& context);

// The factor that brings `norm` down to `clip`; 1 if the norm is not larger, or if `clip` is 0.
double clip_factor(double norm, double clip);

}  // namespace podium
