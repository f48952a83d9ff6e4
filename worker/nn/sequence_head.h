// Classifies whole sequences by their first tokens: classify(dropout(tanh(pool(x[first tokens])))) (Devlin et
// al., 2018). It has one term of the loss: a cross-entropy over classes, such as BERT's next sentence, or the
// squared error of a value; with a teacher another, how far the scores of the classes are from the teacher's
// (ops/distillation.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/nn/token_decoder.h"

namespace podium {

struct SequenceHeadOptions {
  std::string classifier;    // what its dense layer is called
  std::int64_t classes = 0;  // 0: it predicts a value
  std::size_t term = 0;
  double dropout = 0;                            // before the classifier
  std::vector<float> class_weights;              // in the loss; empty: all 1
  std::optional<std::size_t> teacher_term = {};  // whose values are a teacher's scores [sequences, classes]
  double temperature = 1;                        // of both models' scores
};

class SequenceHead {
 public:
  // Declares the family's pooler and the classifier [classes, hidden], whole on every tensor rank.
  SequenceHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
               SequenceHeadOptions options);

  // encoded and gradient.dx [all rows, hidden]. When it only evaluates, it returns the logits [sequences,
  // classes], or the values [sequences, 1], which lie in PassContext::saved.
  ConstTensorView run(const PassContext& pass, ConstTensorView encoded, const HeadGradient& gradient);

 private:
  void add_losses(const PassContext& pass, TensorView logits, const ScoredRows& targets,
                  const HeadGradient& gradient);
  void add_loss(const PassContext& pass, TensorView logits, const ScoredRows& targets,
                const HeadGradient& gradient, TensorView dbias);

  SequenceHeadOptions options_;
  std::int64_t hidden_;
  Linear pooler_;
  Linear classifier_;
  Tensor class_weights_;  // f32, in the store's memory
};

}  // namespace podium
