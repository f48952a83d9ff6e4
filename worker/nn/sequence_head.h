// Classifies whole sequences by their first tokens: classify(tanh(pool(x[first tokens]))) (Devlin et al.,
// 2018), without dropout between the two. It has one term of the loss: BERT's next sentence, or the classes
// of a task.
#pragma once

#include <string>

#include "worker/nn/token_decoder.h"

namespace podium {

class SequenceHead {
 public:
  // Declares the family's pooler and `classifier` [classes, hidden], whole on every tensor rank.
  SequenceHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
               const std::string& classifier, std::int64_t classes, std::size_t term);

  // encoded and gradient.dx [all rows, hidden]. When it only evaluates, it returns the logits [labels,
  // classes], which lie in PassContext::saved.
  ConstTensorView run(const PassContext& pass, ConstTensorView encoded, const HeadGradient& gradient);

 private:
  std::int64_t hidden_;
  std::size_t term_;
  Linear pooler_;
  Linear classifier_;
};

}  // namespace podium
