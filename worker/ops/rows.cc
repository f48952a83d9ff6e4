#include "worker/ops/rows.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

// Row numbers in a device's memory are not looked at.
void check_rows(const Context& context, const ConstTensorView& many, std::span<const std::int32_t> rows,
                const ConstTensorView& few) {
  check_tensor(few, many.dtype, Shape{few.shape[0], many.shape[1]}, "the picked rows");
  PODIUM_CHECK(static_cast<std::int64_t>(rows.size()) <= few.shape[0],
               "more rows named than there is room for");
  if (!backend(context).host_reads_integers) return;
  for (const std::int32_t row : rows) PODIUM_CHECK(row < many.shape[0], "row outside the tensor");
}

}  // namespace

void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows, TensorView y) {
  check_rows(context, x, rows, y);
  const ProfileScope scope(context, "gather_rows", {.bytes = bytes_of(y, y)});
  backend(context).gather_rows(context, x, rows, y);
}

void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                      TensorView dx) {
  check_rows(context, dx, rows, dy);
  const ProfileScope scope(context, "scatter_add_rows", {.bytes = bytes_of(dy, dy, dy)});
  backend(context).scatter_add_rows(context, dy, rows, dx);
}

}  // namespace podium::ops
