// Dropout (Srivastava et al., 2014) whose masks are never stored: each is a function of (key, site, row,
// column) and is drawn again in backward. A row's draws do not depend on how many rows are computed together,
// nor by whom.
//
//   y = keep ? x * scale : 0,   keep with probability 1 - threshold / 65536,   scale = its inverse
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/step_value.h"
#include "worker/tensor/context.h"
#include "worker/tensor/random.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct Dropout {
  StepValue<PhiloxKey> key;
  std::uint32_t site = 0;              // which dropout of the model
  StepValue<std::uint64_t> first_row;  // global number of the tensor's first row
  std::uint32_t threshold = 0;         // dropped fraction in 65536ths; 0: no dropout
  float scale = 1.0F;
  std::span<const std::int64_t> rows;  // the rows' global numbers where they do not follow one another

  std::uint64_t row(std::int64_t i) const {
    return rows.empty() ? first_row.value + static_cast<std::uint64_t>(i)
                        : static_cast<std::uint64_t>(rows[static_cast<std::size_t>(i)]);
  }
  bool active() const { return threshold > 0; }
};

// `probability` in [0, 1) is rounded to a multiple of 1/65536.
Dropout make_dropout(double probability, const StepValue<PhiloxKey>& key, std::uint32_t site,
                     const StepValue<std::uint64_t>& first_row);

// y, which may be x, is x [rows, columns] dropped out; applied to a gradient it is its own backward.
void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y);

// A residual connection that no layer norm follows: branch becomes residual + dropout(branch).
void add_dropout(Context& context, TensorView branch, ConstTensorView residual, const Dropout& dropout);

}  // namespace podium::ops
