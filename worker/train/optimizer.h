// An optimizer over a shard of the flat parameter buffers, as part of a model that may be spread over many
// ranks. Results are a function of the inputs alone, the same bits for any number of threads and any
// instruction set of a CPU, and in every run on one kind of device; norms count every parameter of the whole
// model once, however it is cut, so every layout trains alike up to rounding.
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
  // All references must outlive the optimizer, but for the spec.
  struct Parts {
    const OptimizerSpec& spec;
    ParameterStore& parameters;
    std::vector<FlatRange> shard;
    const ParallelGroups* groups;  // none: this process holds the whole model
    Context& context;
  };
  virtual ~Optimizer() = default;

  // The Euclidean norm of the gradients of the whole model; not finite where one of them is not. The same
  // bits on every rank. Waits for a device. Collective over the model group, and the data group where the
  // shard is not everything.
  double gradient_norm(ParameterStore& parameters);

  // One update of the shard's weights. `step`, which corrects the moments' bias, counts from 1. Gradients are
  // scaled by `gradient_scale` first and, outside of the shard too, zero afterwards: the next step may add to
  // them. Collective as above. `before_change`, where given, is called with the weights and states of each
  // chunk before they change.
  void update(ParameterStore& parameters, std::int64_t step, double learning_rate, double gradient_scale,
              const BeforeChange& before_change = nullptr);

  // What is to be saved beside the weights, where the parameters lie.
  std::vector<OptimizerState> states();
  const std::vector<FlatRange>& shard() const { return shard_; }
  bool updates_all() const { return whole_; }  // else other ranks' weights are to be gathered

 protected:
  // `states`: the names of what it keeps of each element beside the weight, at first zero.
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
  // Makes of each parameter's sum over this rank's chunks the sum over all elements of the whole parameter,
  // the same bits on every rank that holds a part of it.
  void sum_over_holders(std::vector<Squares>& sums);
  bool holds_whole_parameters() const;  // no other rank has a part of one: sum_over_holders() changes nothing

  bool on_device() const { return !context_.memory.on_host(); }  // weights, gradients, states and chunks
  // `count` of T in `tensor`, which is made where it has no room yet.
  template <class T>
  std::span<T> room_for(Tensor& tensor, std::size_t count) const {
    const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
    if (tensor.shape() != Shape{bytes}) tensor = Tensor(DType::u8, Shape{bytes}, context_.memory.device);
    return {static_cast<T*>(tensor.view().address), count};
  }

  Context& context_;
  int threads_;
  std::vector<bool> decays_;            // by parameter: weight decay applies
  std::vector<OptimizerChunk> chunks_;  // each the unit of work of one thread; on the host

 private:
  struct State {
    std::string name;
    Tensor values;
  };

  // Whether the update on the device leaves the 16-bit copies of the weights current, too.
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

// Of the parameters within `shard` (GradientReducer::shard()), on this rank of `groups`, which with `context`
// must outlive the optimizer. Where the first and the last stage share their word embeddings, these are the
// first parameter of both.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          std::vector<FlatRange> shard, const ParallelGroups& groups,
                                          Context& context);
// Of a model that this process holds whole.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          Context& context);

// The factor that brings `norm` down to `clip`; 1 where it is within, or where `clip` is 0.
double clip_factor(double norm, double clip);

}  // namespace podium
