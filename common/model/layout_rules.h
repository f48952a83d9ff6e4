// How a model and its batches are divided over devices: the units that the numbers in a spec are multiples
// of. The spec check, the sizes of elastic jobs and the worker use these rules.
#pragma once

#include <cstdint>

#include "common/model/spec.h"

namespace podium {

// The columns of a product on one device come in multiples of this, for vectors and tensor cores.
inline constexpr int kColumnMultiple = 16;
// Likewise those of a head that positions turn; then heads of keys and values, two products of one width,
// keep kColumnMultiple however few they are.
inline constexpr int kHeadMultiple = 8;
// Of a product with 2:4 sparse weights: two groups of four, whose places inference keeps in a byte.
inline constexpr int kSparseMultiple = 8;

struct LayoutRules {
  int tensor = 1, pipeline = 1, interleave = 1;  // as in ParallelSpec

  // The functions below are for layouts that are possible.
  bool possible() const {
    return tensor >= 1 && pipeline >= 1 && interleave >= 1 && (interleave == 1 || pipeline > 1);
  }
  int devices_unit() const { return tensor * pipeline; }  // of resources.devices: a copy of the model
  int heads_unit() const { return tensor; }  // of model.heads, model.key_value_heads and model.intermediate
  // Of model.hidden, and under fp8 of model.intermediate.
  int columns_unit() const { return kColumnMultiple * tensor; }
  // Of model.hidden and model.intermediate where weights are 2:4 sparse: no group of four is cut.
  int sparse_unit() const { return kSparseMultiple * tensor; }
  int layers_unit() const { return pipeline * interleave; }  // of model.layers: a layer in each chunk
  int micro_batches_unit() const { return interleave > 1 ? pipeline : 1; }  // of a step's, on each copy

  // The unit of training.batch.global with `copies` copies of the model: each copy trains on equally many
  // sequences, in full micro-batches, so that the number of copies does not change the training.
  std::int64_t batch_unit(std::int64_t micro, std::int64_t copies) const {
    return micro * copies * micro_batches_unit();
  }
};

inline LayoutRules layout_rules(const ParallelSpec& parallel) {
  return {parallel.tensor, parallel.pipeline, parallel.interleave};
}

}  // namespace podium
