#include "worker/ops/rotary_heads.h"

#include <algorithm>
#include <cmath>

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

// Positions in a device's memory are not looked at.
void check_rotary(const Context& context, const RotaryHeads& rotary, const ConstTensorView& projected,
                  const ConstTensorView& expanded) {
  PODIUM_CHECK(rotary.key_value_heads > 0 && rotary.heads % rotary.key_value_heads == 0,
               "groups of heads are of one size");
  PODIUM_CHECK(rotary.head_size % 2 == 0, "a head is turned by pairs of columns");
  check_tensor(projected, projected.dtype, Shape{projected.shape[0], rotary.projected()}, "the projection");
  check_tensor(expanded, projected.dtype, Shape{projected.shape[0], rotary.expanded()},
               "what attention reads");
  check_tensor(rotary.table, DType::f32, Shape{rotary.table.shape[0], rotary.head_size},
               "the table of turns");
  if (rotary.positions.empty()) {
    PODIUM_CHECK(rotary.length > 0 && rotary.length <= rotary.table.shape[0],
                 "sequences longer than the table of turns");
    return;
  }
  PODIUM_CHECK(static_cast<std::int64_t>(rotary.positions.size()) == projected.shape[0],
               "one position a row");
  PODIUM_CHECK(!backend(context).host_reads_integers ||
                   std::ranges::all_of(rotary.positions,
                                       [&](std::int32_t p) { return p >= 0 && p < rotary.table.shape[0]; }),
               "a position outside the table of turns");
}

}  // namespace

std::vector<float> rotary_table(double theta, std::int64_t positions, std::int64_t head_size) {
  const std::int64_t half = head_size / 2;
  std::vector<float> table(static_cast<std::size_t>(positions * head_size));
  for (std::int64_t i = 0; i < half; ++i) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_size));
    for (std::int64_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      const auto at = static_cast<std::size_t>(p * head_size + i);
      table[at] = static_cast<float>(std::cos(angle));
      table[at + static_cast<std::size_t>(half)] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

void rotary_heads_forward(Context& context, const RotaryHeads& rotary, ConstTensorView x, TensorView y) {
  check_rotary(context, rotary, x, y);
  const ProfileScope scope(context, "rotary_heads_forward", {.bytes = bytes_of(x, y)});
  backend(context).rotary_heads_forward(context, rotary, x, y);
}

void rotary_heads_backward(Context& context, const RotaryHeads& rotary, ConstTensorView dy, TensorView dx) {
  check_rotary(context, rotary, dx, dy);
  const ProfileScope scope(context, "rotary_heads_backward", {.bytes = bytes_of(dy, dx)});
  backend(context).rotary_heads_backward(context, rotary, dy, dx);
}

}  // namespace podium::ops
