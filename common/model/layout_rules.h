// How a model and its batches are cut over devices: what each number of a spec must be a multiple of. The
// spec check, the sizes of elastic jobs and the worker ask these rules.
#pragma once

#include <cstdint>

#include "common/model/spec.h"

namespace podium {

// What a device computes of a product has so many columns, or a multiple: vectors and tensor cores take them.
inline constexpr int kColumnMultiple = 16;

struct LayoutRules {
  int tensor = 1, pipeline = 1, interleave = 1;  // as in ParallelSpec

  // The multiples below are of a layout that is possible.
  bool possible() const {
    return tensor >= 1 && pipeline >= 1 && interleave >= 1 && (interleave == 1 || pipeline > 1);
  }
  int devices() const { return tensor * pipeline; }         // resources.devices: whole copies of the model
  int shares() const { return tensor; }                     // model.heads and model.intermediate
  int columns() const { return kColumnMultiple * tensor; }  // model.hidden; model.intermediate under fp8
  int layers() const { return pipeline * interleave; }      // model.layers
  int micro_batches() const { return interleave > 1 ? pipeline : 1; }  // of a step, on each copy of the model

  // training.batch.global, on so many copies: each trains on as many sequences, in micro-batches that are all
  // full, so that another number of copies changes nothing about the training.
  std::int64_t sequences(std::int64_t micro, std::int64_t copies) const {
    return micro * copies * micro_batches();
  }
};

inline LayoutRules layout_rules(const ParallelSpec& parallel) {
  return {parallel.tensor, parallel.pipeline, parallel.interleave};
}

}  // namespace podium
