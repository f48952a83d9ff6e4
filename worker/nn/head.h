// What a task puts on a model: a head predicts from the encoded rows and owns the terms of the loss. It runs
// forward and, where gradients are wanted, at once backward; what its terms come to is added to
// PassContext::sums, by index. A new head is a class of its own and a HeadPlan that makes it; the model knows
// nothing else of it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"
#include "worker/nn/parameters.h"
#include "worker/tensor/tensor.h"

namespace podium {

struct PassContext;
class TensorGroup;

class Head {
 public:
  virtual ~Head() = default;

  // x and dx [all rows, hidden]. Adds to dx, or only evaluates where it has no address. When evaluating, a
  // head that has more to tell than its sums returns predictions [targets of term 0, columns] of the pass's
  // compute type in PassContext::saved.
  virtual ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) = 0;
};

struct LossTerm {
  std::string_view name;
  bool of_tokens = false;  // predicts one of the vocabulary: rows are scored in blocks (batch_inputs.h)
};

struct HeadPlan {
  std::vector<LossTerm> terms;  // at most kMostLossTerms
  // Declares the head's parameters. `word` is the table of word embeddings.
  std::function<std::unique_ptr<Head>(ParameterStore&, const TensorGroup&, const ModelSpec&,
                                      ParameterId word)>
      make;
  std::function<double(const ModelSpec&, const MicroBatch&)> forward_flops;
};

}  // namespace podium
