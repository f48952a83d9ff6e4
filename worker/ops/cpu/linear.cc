// Forward and backward-input read weights repacked (and in bf16 mode converted) into the layout oneDNN asks
// for. Where a master is read several times before it changes, as with several micro-batches a step, the copy
// is made once and kept; where once, it lives in scratch memory for that one product.
#include "worker/ops/linear.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"
#include "worker/ops/cpu/state.h"
#include "worker/ops/cpu/stochastic_rounding.h"
#include "worker/tensor/profiler.h"

namespace podium::ops::cpu {
namespace {

// One layout's copy. Products of different row counts that ask for the same layout share it.
struct PackedCopy {
  bool transposed = false;  // of the master
  dnnl::memory memory;
  dnnl::memory master;
  dnnl::reorder reorder;
  std::int64_t generation = 0;
  int uses = 0;         // of this generation
  int uses_before = 0;  // of the one before
  AlignedBytes kept;

  bool worth_keeping() const { return uses > 1 || uses_before > 1; }
};

struct CpuPackedWeight final : PackedWeight {
  std::vector<PackedCopy> copies;
};

PackedCopy make_copy(CpuState& state, const Shape& master, bool transposed,
                     const dnnl::memory::desc& layout) {
  const std::int64_t out = master[0], in = master[1];
  const auto dims = transposed ? dnnl::memory::dims{in, out} : dnnl::memory::dims{out, in};
  const auto strides = transposed ? dnnl::memory::dims{1, in} : dnnl::memory::dims{in, 1};
  const dnnl::memory::desc plain(dims, dnnl::memory::data_type::f32, strides);
  PackedCopy made;
  made.transposed = transposed;
  made.memory = dnnl::memory(layout, state.engine(), nullptr);
  made.master = dnnl::memory(plain, state.engine(), nullptr);
  made.reorder = dnnl::reorder(made.master, made.memory);
  return made;
}

PackedCopy& copy_of(CpuState& state, LinearWeight& weight, bool transposed,
                    const dnnl::memory::desc& layout) {
  if (!weight.packed) weight.packed = std::make_unique<CpuPackedWeight>();
  auto& copies = static_cast<CpuPackedWeight&>(*weight.packed).copies;
  const auto found = std::ranges::find_if(copies, [&](const PackedCopy& c) {
    return c.transposed == transposed && c.memory.get_desc() == layout;
  });
  return found != copies.end()
             ? *found
             : copies.emplace_back(make_copy(state, weight.master.shape, transposed, layout));
}

// What the copies for products in `type` are made of.
const void* values_for(Context& context, const LinearWeight& weight, DType type) {
  if (!weight.rounding || type == DType::f32) return weight.master.address;
  const TensorView rounded = cpu_state(context).runtime().scratch.allocate(DType::f32, weight.master.shape);
  round_stochastically(weight.master, *weight.rounding, type, rounded.data<float>(), context.threads);
  return rounded.address;
}

// The weight as b[k, n] of a product in `type`: for forward W^T (`transposed`), for backward W. Valid as long
// as what is in scratch memory now.
const dnnl::memory& packed(Context& context, LinearWeight& weight, bool transposed, DType type,
                           const dnnl::memory::desc& layout) {
  CpuState& state = cpu_state(context);
  PackedCopy& copy = copy_of(state, weight, transposed, layout);
  const bool renewed = copy.generation != weight.generation;
  if (renewed) {
    copy.generation = weight.generation;
    copy.uses_before = std::exchange(copy.uses, 0);
  }
  ++copy.uses;
  if (!renewed && copy.kept) return copy.memory;

  const std::size_t bytes = layout.get_size();
  if (copy.worth_keeping() && !copy.kept) {
    copy.kept = allocate_aligned(bytes);
    if (context.profiler != nullptr)
      context.profiler->add_memory("weight copies", static_cast<std::int64_t>(bytes));
  }
  const ProfileScope profile(
      context, "pack_weight",
      {.bytes = static_cast<double>(weight.master.bytes()) + static_cast<double>(bytes)});
  copy.memory.set_data_handle(copy.kept ? copy.kept.get() : state.runtime().scratch.allocate_bytes(bytes));
  copy.master.set_data_handle(const_cast<void*>(values_for(context, weight, type)));
  copy.reorder.execute(state.runtime().stream, copy.master, copy.memory);
  return copy.memory;
}

// Whether dW = dy^T x is faster with x packed first: where every value of it is used often, and rows are so
// wide that reading it in columns misses the caches.
bool packing_pays(std::int64_t out, std::int64_t in) { return out >= 768 && in >= 512; }

constexpr std::int64_t kSumColumns = 256;  // a slice of columns whose sums stay in the first-level cache
constexpr std::int64_t kSumRows = 64;      // partial sums of this many rows keep the rounding error small

template <class T>
PODIUM_SIMD_CLONES void sum_columns(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                                    float* sums) {
  float partial[kSumColumns];
  for (std::int64_t begin = 0; begin < rows; begin += kSumRows) {
    const std::int64_t end = std::min(rows, begin + kSumRows);
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) partial[j] = 0.0F;
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = x + i * stride;
#pragma omp simd
      for (std::int64_t j = 0; j < columns; ++j) partial[j] += to_float(row[j]);
    }
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += partial[j];
  }
}

}  // namespace

void add_column_sums(Context& context, ConstTensorView x, TensorView sums) {
  const std::int64_t rows = x.shape[0], columns = x.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const T* const values = x.data<T>();
    float* const to = sums.data<float>();
    parallel_ranges(context.threads, columns, kAlignment / sizeof(T), [&](Range range, int) {
      for (std::int64_t j = range.begin; j < range.end; j += kSumColumns) {
        sum_columns(values + j, rows, columns, std::min(kSumColumns, range.end - j), to + j);
      }
    });
  });
}

void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y) {
  CpuState& state = cpu_state(context);
  const ThreadsScope threads(context.threads);
  const ArenaScope scratch(state.runtime().scratch);
  const std::int64_t out = weight.master.shape[0], in = weight.master.shape[1];
  const std::shared_ptr<Matmul> product =
      state.matmul({.m = x.shape[0],
                    .n = out,
                    .k = in,
                    .a = {x.dtype},
                    .b = {.dtype = x.dtype, .transposed = true, .packed = true},
                    .c = {y.dtype},
                    .bias = bias.address != nullptr});
  product->run(state.runtime(), {.a = x.address, .c = y.address, .bias = bias.address},
               packed(context, weight, true, y.dtype, product->packed_layout()));
}

void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                           const ProductOptions& options) {
  CpuState& state = cpu_state(context);
  const ThreadsScope threads(context.threads);
  const ArenaScope scratch(state.runtime().scratch);
  const std::int64_t out = weight.master.shape[0], in = weight.master.shape[1];
  const std::shared_ptr<Matmul> product = state.matmul({.m = dy.shape[0],
                                                        .n = in,
                                                        .k = out,
                                                        .a = {dy.dtype},
                                                        .b = {.dtype = dy.dtype, .packed = true},
                                                        .c = {dx.dtype},
                                                        .accumulate = options.accumulate,
                                                        .multiply = options.gelu.values.address != nullptr});
  product->run(state.runtime(), {.a = dy.address, .c = dx.address, .factor = options.gelu.values.address},
               packed(context, weight, false, dx.dtype, product->packed_layout()));
  if (options.column_sums.address != nullptr) add_column_sums(context, dx, options.column_sums);
}

void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db) {
  CpuState& state = cpu_state(context);
  const ThreadsScope threads(context.threads);
  const std::int64_t out = dw.shape[0], in = dw.shape[1];
  const std::shared_ptr<Matmul> product = state.matmul({.m = out,
                                                        .n = in,
                                                        .k = x.shape[0],
                                                        .a = {.dtype = dy.dtype, .transposed = true},
                                                        .b = {x.dtype},
                                                        .c = {DType::f32},
                                                        .accumulate = true,
                                                        .pack_b = packing_pays(out, in)});
  product->run(state.runtime(), {.a = dy.address, .b = x.address, .c = dw.address});
  if (db.address != nullptr) add_column_sums(context, dy, db);
}

}  // namespace podium::ops::cpu
