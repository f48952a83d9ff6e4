// How a model and its batches are divided over devices: the divisors of the numbers in a spec. The spec
// check, the sizes of elastic jobs and the worker use these rules.
#pragma once

#include <cstdint>

#include "common/model/spec.h"

namespace podium {

// The columns of a product on one device come in multiples of this, for vectors and tensor cores.
inline constexpr int kColumnMultiple = 16;

struct LayoutRules {
  int tensor = 1, pipeline = 1, interleave = 1;  // as in ParallelSpec

  // The functions below are for layouts that are possible.
  bool possible() const {
    return tensor >= 1 && pipeline >= 1 && interleave >= 1 && (interleave == 1 || pipeline > 1);
  }
  int devices() const { return tensor * pipeline; }         // resources.devices: whole copies of the model
  int shares() const { return tensor; }                     // model.heads and model.intermediate
  int columns() const { return kColumnMultiple * tensor; }  // model.hidden; model.intermediate under fp8
  int layers() const { return pipeline * interleave; }      // model.layers
  int micro_batches() const { return interleave > 1 ? pipeline : 1; }  // of a step, on each copy of the model

  // The divisor of training.batch.global with `copies` copies of the model: each copy trains on equally many
  // sequences, in full micro-batches, so that the number of copies does not change the training.
  std::int64_t sequences(std::int64_t micro, std::int64_t copies) const {
    return micro * copies * micro_batches();
  }
};

inline LayoutRules layout_rules(const ParallelSpec& parallel) {
  return {parallel.tensor, parallel.pipeline, parallel.interleave};
}

}  // namespace podium
