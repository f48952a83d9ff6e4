// What a task puts on a model: a head predicts from the encoded rows and owns the terms of the loss. It runs
// forward and, if gradients are wanted, backward right after. It adds the sums of its terms to
// PassContext::sums, by index. A new head is a class and a HeadPlan that makes it; the model knows nothing
// else about it.
#pragma once

#include <functional>
#include <memory>
#include <span>
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

  // x and dx [all rows, hidden]. Adds to dx; if dx has no address, only evaluates. An evaluating head may
  // return predictions in the pass's compute type, which lie in PassContext::saved: [targets of term 0,
  // columns], or whatever rows its header says.
  virtual ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) = 0;
};

struct LossTerm {
  std::string_view name;
  bool of_tokens = false;  // predicts a token: its rows are scored in blocks (batch_inputs.h)
};

struct HeadPlan {
  std::vector<LossTerm> terms;  // at most kMostLossTerms
  // Declares the head's parameters. `word` is the table of word embeddings, of use if the family ties them.
  std::function<std::unique_ptr<Head>(ParameterStore&, const TensorGroup&, const ModelSpec&,
                                      ParameterId word)>
      make;
  std::function<double(const ModelSpec&, const MicroBatch&)> forward_flops;
  // Makes of what a teacher with the same head predicts of a batch, [rows, columns] in f32, the targets of
  // the terms that learn it; none where no term does.
  std::function<void(std::span<const float> predictions, MicroBatch&)> take_scores = {};
};

}  // namespace podium
