// Tensors of 8 bits that products for inference read: q = saturate(round to nearest even(v / scale)), i8 up
// to -128 and 127, e4m3 up to -448 and 448.
#pragma once

#include "worker/tensor/tensor.h"

namespace podium::ops {

inline bool is_quantised(DType dtype) { return dtype == DType::i8 || dtype == DType::e4m3; }

// A second result beside one of 16 or 32 bits: the same values, as they are stored there, quantised.
struct QuantisedCopy {
  TensorView values = {};  // i8 or e4m3; without an address: not wanted
  float scale = 1.0F;

  bool wanted() const { return values.address != nullptr; }
};

}  // namespace podium::ops
