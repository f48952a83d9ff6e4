// Scores rows against every word and takes the cross-entropy, forward and at once backward. A tensor-parallel
// rank scores its share of the vocabulary; the logits never leave it.
#pragma once

#include <span>
#include <string>

#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"
#include "worker/ops/cross_entropy.h"

namespace podium {

// What backward needs to know; without an address in `dx` a head only evaluates.
struct HeadGradient {
  ops::StepValue<float> scale;  // of the loss sum
  TensorView dx;                // of the head's input: added to

  bool wanted() const { return dx.address != nullptr; }
};

class TokenDecoder {
 public:
  // `word` is the table of word embeddings; no bias where `bias_name` is empty.
  TokenDecoder(ParameterStore& store, ParameterId word, const std::string& bias_name);

  // x [rows, hidden] and labels [rows], negative where nothing is to be predicted, are the same on all tensor
  // ranks, and so are what is added to `sums` and dx, which is replaced.
  void run(const PassContext& pass, ConstTensorView x, std::span<const std::int32_t> labels,
           const HeadGradient& gradient, ops::CrossEntropySums* sums);

 private:
  void score(const PassContext& pass, TensorView logits, std::span<const std::int32_t> labels,
             const HeadGradient& gradient, ops::CrossEntropySums* sums);

  std::int64_t first_class_;
  Linear linear_;
};

}  // namespace podium
