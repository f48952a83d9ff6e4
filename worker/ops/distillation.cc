#include "worker/ops/distillation.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void distillation(Context& context, ConstTensorView x, std::int64_t column, const SequenceRows& rows,
                  std::span<const float> teacher, float temperature, const StepValue<float>& scale,
                  TensorView dx, CrossEntropySums* sums) {
  PODIUM_CHECK(x.shape.rank() == 2 && column >= 0 && column < x.shape[1], "the student has the column");
  check_tensor(dx, x.dtype, x.shape, "dx");
  check_sequence_rows(context, rows, std::min(x.shape[0], std::ssize(teacher)));
  PODIUM_CHECK(temperature > 0, "a temperature is above 0");
  const ProfileScope scope(context, "distillation", {.bytes = bytes_of(x, dx, dx)});
  backend(context).distillation(context, x, column, rows, teacher, temperature, scale, dx, sums);
}

}  // namespace podium::ops
