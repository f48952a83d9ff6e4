// y = dropout(x) and branch = residual + dropout(branch), [rows, columns]; a block computes a row.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/dropout.cuh"
#include "worker/ops/cuda/row_team.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/dropout.h"

namespace podium::ops::cuda {
namespace {

template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads)
    dropout_kernel(const T* x, const T* residual, T* y, std::int64_t columns, DropoutParameter parameter) {
  const DeviceDropout dropout = parameter;
  const std::int64_t row = blockIdx.x, begin = row * columns;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float values[kVector];
    load(x + begin, Team::column(v), columns, values);
    if (dropout.threshold > 0) drop(dropout, kept_columns(dropout, dropout.row(row), Team::group(v)), values);
    if (residual != nullptr) {
      float shortcut[kVector];
      load(residual + begin, Team::column(v), columns, shortcut);
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[i] += shortcut[i];
    }
    store(y + begin, Team::column(v), columns, values);
  }
}

void launch_dropout(Context& context, const char* name, ConstTensorView x, ConstTensorView residual,
                    const Dropout& dropout, TensorView y) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    with_row_team(x.shape[1], [&]<class Team>(Team) {
      launch(context, name, dropout_kernel<T, Team>, static_cast<unsigned>(x.shape[0]), Team::kThreads, 0,
             elements<T>(x), elements<T>(residual), elements<T>(y), x.shape[1], DropoutParameter(dropout));
    });
  });
}

}  // namespace

void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) {
  launch_dropout(context, "dropout", x, {}, dropout, y);
}

void add_dropout(Context& context, TensorView branch, ConstTensorView residual, const Dropout& dropout) {
  launch_dropout(context, "add_dropout", branch, residual, dropout, branch);
}

}  // namespace podium::ops::cuda
