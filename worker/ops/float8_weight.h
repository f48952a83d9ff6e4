// The copies of a weight in FP8, in both layouts. The ops of float8.h renew them from the master before a
// back end's function reads them.
#pragma once

#include "worker/ops/float8.h"

namespace podium::ops {

// The columns of a transposed matrix that has so many rows.
inline std::int64_t filled_up(std::int64_t rows) {
  return (rows + kFloat8Multiple - 1) / kFloat8Multiple * kFloat8Multiple;
}

struct Float8Weight final : PackedWeight {
  Tensor by_rows, by_columns, scale;
  std::int64_t generation = 0;

  Float8Weight(const Shape& shape, Device* device)
      : by_rows(DType::e4m3, shape, device),
        by_columns(DType::e4m3, Shape{shape[1], filled_up(shape[0])}, device),
        scale(DType::f32, Shape{1}, device) {}
  Float8Matrix matrix() { return {by_rows.view(), by_columns.view(), scale.view()}; }
};

inline Float8Matrix float8_copies(const LinearWeight& weight) {
  return static_cast<Float8Weight&>(*weight.float8).matrix();
}

}  // namespace podium::ops
