// The row kernels of attention: softmax with dropout folded into the sign of what is kept, and its gradient.
#pragma once

#include <cstdint>

#include "worker/ops/cpu/dropout.h"

namespace podium::ops::cpu {

// The scores [rows, keys] of a block of one head's queries and how to turn them into probabilities.
struct SoftmaxTask {
  std::int64_t rows = 0;  // to compute; rows beyond them get probability 0
  std::int64_t padded_rows = 0;
  std::int64_t keys = 0;
  std::int64_t valid = 0;        // keys from here on get probability 0
  std::int64_t first_query = 0;  // of the head, where `causal`: query i looks at keys up to i
  bool causal = false;
  float scale = 1.0F;  // of the scores, before the exponential
  std::uint64_t first_dropout_row = 0;

  std::int64_t visible(std::int64_t row) const {
    const std::int64_t until = first_query + row + 1;
    return causal && until < valid ? until : valid;
  }
};

// scores (f32) -> probabilities with the sign of dropped ones set. `draws` has room for one row, in whole
// blocks, and is all zero where dropout is inactive.
template <class T>
void softmax_rows(const SoftmaxTask& task, const Dropout& dropout, std::uint16_t* draws, float* scores,
                  T* probabilities);

// y = dropout(P): signed ones become 0, the others are scaled.
template <class T>
void apply_dropout_sign(const T* probabilities, std::int64_t count, float scale, T* y);

// Gradient with respect to the unscaled scores, from `dp`, the gradient of dropout(P) (f32).
template <class T>
void softmax_rows_backward(const SoftmaxTask& task, const Dropout& dropout, const T* probabilities,
                           const float* dp, T* dscores);

}  // namespace podium::ops::cpu
