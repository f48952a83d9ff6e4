// Scores rows against every word and takes the cross-entropy, forward and right after backward. A
// tensor-parallel rank scores its share of the vocabulary; its logits never leave it.
#pragma once

#include <span>
#include <string>

#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"
#include "worker/ops/cross_entropy.h"

namespace podium {

// What a head needs to know for backward. It only evaluates if `dx` has no address.
struct HeadGradient {
  ops::StepValue<float> scale;  // of the loss sum
  TensorView dx;                // of the head's input; the head adds to it

  bool wanted() const { return dx.address != nullptr; }
};

class TokenDecoder {
 public:
  // `word` is the table of word embeddings. An empty `bias_name` means no bias.
  TokenDecoder(ParameterStore& store, ParameterId word, const std::string& bias_name);

  // x [rows, hidden] and labels [rows] are the same on all tensor ranks; a negative label predicts nothing.
  // Adds to `sums` and replaces gradient.dx, with the same values on all tensor ranks.
  void run(const PassContext& pass, ConstTensorView x, std::span<const std::int32_t> labels,
           const HeadGradient& gradient, ops::CrossEntropySums* sums);

 private:
  void score(const PassContext& pass, TensorView logits, std::span<const std::int32_t> labels,
             const HeadGradient& gradient, ops::CrossEntropySums* sums);

  std::int64_t first_class_;
  Linear linear_;
};

}  // namespace podium
