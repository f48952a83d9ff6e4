// A block takes every gridDim.y-th row of 512 columns, a thread eight columns of two rows at a time; the
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
constexpr std::int64_t kMaxBlocks = 1024;              // whatever the device: the same bits on all
constexpr int kRowsAhead = 2;                          // loads under way

template <class T>
struct FilteredRows {
  const T* x;
  RowFilter filter;

  __device__ void read(std::int64_t row, std::int64_t column, std::int64_t columns,
                       float (&values)[kVector]) const {
    if (filter.keys == nullptr || filter.keys[row] == filter.key)
      load(x + row * columns, column, columns, values);
  }
  __device__ void write(std::int64_t, std::int64_t, std::int64_t, const float (&)[kVector]) const {}
};

template <class T, GeluKind kKind>
struct GeluGradients {
  T* dy;
  const T* x;

  __device__ void read(std::int64_t row, std::int64_t column, std::int64_t columns,
                       float (&values)[kVector]) const {
    float inputs[kVector];
    load(dy + row * columns, column, columns, values);
    load(x + row * columns, column, columns, inputs);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] *= gelu<kKind>(inputs[i]).slope;
  }
  __device__ void write(std::int64_t row, std::int64_t column, std::int64_t columns,
                        const float (&values)[kVector]) const {
    store(dy + row * columns, column, columns, values);
  }
};

template <class Source>
__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(Source source, std::int64_t rows, std::int64_t columns, float* partials) {
  const std::int64_t column = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (column >= columns) return;
  float sums[kVector] = {};
  for (std::int64_t first = blockIdx.y; first < rows; first += kRowsAhead * gridDim.y) {
    float values[kRowsAhead][kVector] = {};
#pragma unroll
    for (int k = 0; k < kRowsAhead; ++k) {
      const std::int64_t row = first + k * gridDim.y;
      if (row < rows) source.read(row, column, columns, values[k]);
    }
#pragma unroll
    for (int k = 0; k < kRowsAhead; ++k) {
      const std::int64_t row = first + k * gridDim.y;
      if (row < rows) source.write(row, column, columns, values[k]);
#pragma unroll
      for (int i = 0; i < kVector; ++i) sums[i] += values[k][i];
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
