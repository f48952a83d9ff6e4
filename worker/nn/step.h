// What every layer is told about the micro-batch in hand, and where its activations may live until the step
// is over.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/dropout.h"
#include "worker/tensor/arena.h"
#include "worker/tensor/context.h"

namespace podium {

struct Step {
  Context& context;
  Arena& arena;
  DType compute = DType::f32;  // of activations
  std::int64_t sequences = 0;
  std::int64_t length = 0;
  std::span<const std::int32_t> valid_lengths;
  bool training = false;  // dropout happens
  PhiloxKey dropout_key;
  std::int64_t sample_base = 0;  // global index of the first sequence

  std::int64_t rows() const { return sequences * length; }

  TensorView activation(std::int64_t rows, std::int64_t columns) const {
    return arena.allocate(compute, Shape{rows, columns});
  }

  // The dropout at `site` over a tensor that has `rows_per_sequence` rows for each sequence.
  ops::Dropout dropout(double probability, std::uint32_t site, std::int64_t rows_per_sequence) const {
    return ops::make_dropout(training ? probability : 0.0, dropout_key, site,
                             static_cast<std::uint64_t>(sample_base * rows_per_sequence));
  }
};

}  // namespace podium
