// A block takes every gridDim.y-th row of 512 columns, a thread eight columns of some rows at a time; the
// blocks' sums are added by add_partials.
#include <algorithm>

#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/gelu.cuh"
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 64;
constexpr std::int64_t kColumns = kThreads * kVector;  // of a block
constexpr std::int64_t kMaxBlocks = 2048;              // whatever the device: the same bits on all

template <class T>
struct FilteredRows {
  using Inputs = Raw<T>;
  static constexpr int kRowsAhead = 8;  // whose loads are under way at a time

  const T* x;
  RowFilter filter;

  __device__ Inputs read(std::int64_t row, std::int64_t column, std::int64_t columns) const {
    if (filter.keys != nullptr && filter.keys[row] != filter.key) return {};
    return load_raw(x + row * columns, column, columns);
  }
  __device__ void finish(const Inputs& inputs, std::int64_t, std::int64_t, std::int64_t,
                         float (&values)[kVector]) const {
    widen(inputs, values);
  }
};

template <class T, GeluKind kKind>
struct GeluGradients {
  struct Inputs {
    Raw<T> dy, x;
  };
  static constexpr int kRowsAhead = 4;

  T* dy;
  const T* x;

  __device__ Inputs read(std::int64_t row, std::int64_t column, std::int64_t columns) const {
    return {load_raw(dy + row * columns, column, columns), load_raw(x + row * columns, column, columns)};
  }
  __device__ void finish(const Inputs& inputs, std::int64_t row, std::int64_t column, std::int64_t columns,
                         float (&values)[kVector]) const {
    float x_values[kVector];
    widen(inputs.dy, values);
    widen(inputs.x, x_values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] *= gelu<kKind>(x_values[i]).slope;
    store(dy + row * columns, column, columns, values);
  }
};

template <class Source>
__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(Source source, std::int64_t rows, std::int64_t columns, float* partials) {
  constexpr int kRowsAhead = Source::kRowsAhead;
  const std::int64_t column = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (column >= columns) return;
  float sums[kVector] = {};
  for (std::int64_t first = blockIdx.y; first < rows; first += kRowsAhead * gridDim.y) {
    typename Source::Inputs inputs[kRowsAhead];
#pragma unroll
    for (int k = 0; k < kRowsAhead; ++k) {
      const std::int64_t row = first + k * gridDim.y;
      if (row < rows) inputs[k] = source.read(row, column, columns);
    }
#pragma unroll
    for (int k = 0; k < kRowsAhead; ++k) {
      const std::int64_t row = first + k * gridDim.y;
      if (row >= rows) break;
      float values[kVector];
      source.finish(inputs[k], row, column, columns, values);
#pragma unroll
      for (int i = 0; i < kVector; ++i) sums[i] += values[i];
    }
  }
  store(partials + blockIdx.y * columns, column, columns, sums);
}

template <class Source>
void run(Context& context, const char* name, const Source& source, const Shape& shape, const TensorView& to) {
  const std::int64_t rows = shape[0], columns = shape[1];
  if (rows == 0 || columns == 0) return;
  const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
  const auto shares =
      static_cast<unsigned>(std::min(rows, std::max<std::int64_t>(kMaxBlocks / column_blocks, 1)));
  auto* const partials = static_cast<float*>(
      cuda_state(context).scratch(shares * static_cast<std::size_t>(columns) * sizeof(float)));
  launch(context, name, column_sums_kernel<Source>, dim3(static_cast<unsigned>(column_blocks), shares),
         kThreads, 0, source, rows, columns, partials);
  add_partials(context, partials, shares, columns, to.size(), std::array{elements<float>(to)});
}

}  // namespace

void add_column_sums(Context& context, ConstTensorView x, const RowFilter& filter, TensorView to) {
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    run(context, "add_column_sums", FilteredRows<T>{elements<T>(x), filter}, x.shape, to);
  });
}

void add_column_sums(Context& context, ConstTensorView x, TensorView sums) {
  add_column_sums(context, x, RowFilter{}, sums);
}

void gelu_backward_and_add_column_sums(Context& context, const SavedGelu& saved, TensorView dy,
                                       TensorView to) {
  constexpr const char* kName = "gelu_backward_and_add_column_sums";
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    T* const gradients = elements<T>(dy);
    const T* const x = elements<T>(saved.values);
    if (saved.kind == GeluKind::erf)
      run(context, kName, GeluGradients<T, GeluKind::erf>{gradients, x}, dy.shape, to);
    else
      run(context, kName, GeluGradients<T, GeluKind::tanh>{gradients, x}, dy.shape, to);
  });
}

}  // namespace podium::ops::cuda
