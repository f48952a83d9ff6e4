// How far the inputs of the layers' products reach, for training that rounds them as inference in 8 bits does
// (ops/fake_quantise.h): of each product the largest magnitude of a step, averaged over steps. The averages
// are the same on every rank, whatever layers it holds, so that replicas and shares of a product round alike.
//
// A pass rounds by the averages that the steps before have left, and one that trains notes what its inputs
// reach; update() then moves the averages on. Before the first update nothing is rounded, and every pass
// notes. The averages are all that a run which goes on must know.
#pragma once

#include <vector>

#include "worker/comm/communicator.h"
#include "worker/nn/pass_context.h"
#include "worker/tensor/dtype.h"
#include "worker/tensor/memory_space.h"
#include "worker/tensor/tensor.h"

namespace podium {

class ActivationRanges {
 public:
  // `type`: i8 or e4m3. `decay`: of the averages, in [0, 1).
  ActivationRanges(MemorySpace memory, int products, DType type, double decay);

  DType type() const { return type_; }
  bool known() const { return !averages_.empty(); }
  const std::vector<float>& averages() const { return averages_; }  // by product; empty before they are known
  void set(std::vector<float> averages);

  // Moves the averages on by what was noted since the last call, on any rank of `world`, and forgets that. An
  // average of which nothing was noted, or what is not finite, stays. Collective.
  void update(Communicator& world);
  void forget();  // what was noted

  // The input of a product in forward as its multiplication reads it: x, or rounded in workspace memory.
  ConstTensorView forward(const PassContext& pass, int product, ConstTensorView x);
  // The same for backward.
  ConstTensorView rounded(const PassContext& pass, int product, ConstTensorView x) const;
  // Turns the gradient of what rounded() returns into x's, where it rounds: dx = it, or adds it.
  void backward(const PassContext& pass, int product, ConstTensorView x, ConstTensorView drounded,
                bool accumulate, TensorView dx) const;

 private:
  ConstTensorView range(int product) const;  // f32 [1], where the model computes
  TensorView noted(int product);

  MemorySpace memory_;
  DType type_;
  double decay_;
  std::vector<float> averages_;
  Tensor ranges_, noted_;
};

}  // namespace podium
