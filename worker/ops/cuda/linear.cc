// y = x W^T + b, dx = dy W, dW += dy^T x and db += column sums of dy as matrix products. In 16 bits weight
// and bias take part as rounded copies, made once a generation.
#include "worker/ops/linear.h"

#include "worker/ops/cuda/backend.h"
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/convert.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/matmul.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/float8_weight.h"
#include "worker/tensor/profiler.h"

namespace podium::ops::cuda {
namespace {

constexpr std::int64_t kAlignedRows = 8;  // 16-byte vectors of a 16-bit type

// f32 values in a 16-bit type, followed by zeros.
class RoundedCopy {
 public:
  RoundedCopy() = default;
  ~RoundedCopy() { cudaFree(memory_); }
  RoundedCopy(const RoundedCopy&) = delete;
  RoundedCopy& operator=(const RoundedCopy&) = delete;

  const void* of(Context& context, ConstTensorView master, std::int64_t generation, DType type,
                 std::int64_t size, const std::optional<StochasticRounding>& rounding = {}) {
    if (size > size_) allocate(context, size, size_of(type));
    const bool outdated = generation_ != generation || type_ != type;
    if (outdated && rounding)
      narrow_stochastically(context, master, *rounding, memory_, type);
    else if (outdated)
      narrow(context, elements<float>(master), master.size(), memory_, type);
    generation_ = generation;
    type_ = type;
    return memory_;
  }

 private:
  void allocate(Context& context, std::int64_t size, std::size_t element_bytes) {
    const std::size_t bytes = static_cast<std::size_t>(size) * element_bytes;
    ++cuda_state(context).moves;
    check_cuda(cudaFree(memory_), "freeing the copy of a weight");
    check_cuda(cudaMalloc(&memory_, bytes), "allocating the copy of a weight");
    check_cuda(cudaMemsetAsync(memory_, 0, bytes, cuda_state(context).stream()), "clearing memory");
    if (context.profiler != nullptr)
      context.profiler->add_memory("weight copies", static_cast<std::int64_t>(bytes));
    size_ = size;
    type_ = DType::f32;
  }

  void* memory_ = nullptr;
  std::int64_t size_ = 0;
  DType type_ = DType::f32;  // f32: nothing has been copied yet
  std::int64_t generation_ = 0;
};

struct CudaPackedWeight final : PackedWeight {
  RoundedCopy weight, bias;
};

CudaPackedWeight& packed(LinearWeight& weight) {
  if (!weight.packed) weight.packed = std::make_unique<CudaPackedWeight>();
  return static_cast<CudaPackedWeight&>(*weight.packed);
}

bool serves(const ConstTensorView& narrowed, const ConstTensorView& y) {
  return narrowed.address != nullptr && narrowed.dtype == y.dtype;
}

// The weight in the type of y or dy, with at least as many rows as that has columns.
const void* weight_for(Context& context, LinearWeight& weight, const ConstTensorView& y) {
  if (y.dtype == DType::f32) return weight.master.address;
  if (serves(weight.narrowed, y) && y.shape[1] == weight.master.shape[0]) return weight.narrowed.address;
  return packed(weight).weight.of(context, weight.master, weight.generation, y.dtype,
                                  y.shape[1] * weight.master.shape[1], weight.rounding);
}

const void* bias_for(Context& context, LinearWeight& weight, ConstTensorView bias, const ConstTensorView& y) {
  if (y.dtype == DType::f32 || bias.address == nullptr) return bias.address;
  if (serves(weight.narrowed_bias, y) && y.shape[1] == bias.size()) return weight.narrowed_bias.address;
  return packed(weight).bias.of(context, bias, weight.generation, y.dtype, y.shape[1]);
}

Product forward_product(const ConstTensorView& x, const TensorView& y, const ConstTensorView& bias) {
  return {.m = y.shape[0],
          .n = y.shape[1],
          .k = x.shape[1],
          .type = x.dtype,
          .result = y.dtype,
          .transposed_b = true,
          .bias = bias.address != nullptr};
}

// Rows [first, first + count) of dw += dy^T x.
void add_weight_gradient(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                         std::int64_t first, std::int64_t count) {
  if (count == 0) return;
  const Product product{.m = count,
                        .n = dw.shape[1],
                        .k = dy.shape[0],
                        .type = dy.dtype,
                        .result = DType::f32,
                        .transposed_a = true,
                        .pitch_a = dy.shape[1],
                        .accumulate = true};
  const auto* const gradients = static_cast<const std::byte*>(dy.address);
  multiply(context, product,
           {gradients + static_cast<std::size_t>(first) * size_of(dy.dtype), x.address,
            elements<float>(dw) + first * dw.shape[1]});
}

// What follows a product of backward.
void finish(Context& context, const ProductOptions& options, TensorView dx) {
  const bool gelu = options.gelu.values.address != nullptr;
  const bool sums = options.column_sums.address != nullptr;
  if (gelu && sums)
    gelu_backward_and_add_column_sums(context, options.gelu, dx, options.column_sums);
  else if (gelu)
    cuda::gelu_backward(context, options.gelu, dx);
  else if (sums)
    add_column_sums(context, dx, options.column_sums);
}

// Whether cuBLASLt may be asked to end a product with it.
bool may_end(GeluKind kind, const Product& product) {
  return kind == GeluKind::tanh && size_of(product.type) == 2 && product.n % kAlignedRows == 0 &&
         product.k % kAlignedRows == 0;
}

// The product and the GELU's gradient in one, where cuBLASLt does so. It could add up the columns, too, but
// does that in a kernel of its own, which took twice the time of the product on an H200.
void multiply_with_gelu(Context& context, const Product& plain, const ProductOperands& operands,
                        const ProductOptions& options) {
  Product ended = plain;
  ended.end = ProductEnd::gelu_backward;
  ProductOperands more = operands;
  more.gelu_input = const_cast<void*>(options.gelu.values.address);  // which backward only reads
  const TensorView dx{operands.c, plain.result, {plain.m, plain.n}};
  const EndedProduct way{ended, [&] {
                           if (!try_multiply(context, ended, more)) return false;
                           finish(context, {.column_sums = options.column_sums}, dx);
                           return true;
                         }};
  const auto apart = [&] {
    multiply(context, plain, operands);
    finish(context, options, dx);
  };
  multiply_one_way(context, {&way, 1}, apart);
}

// c (+)= a b^T, both with the terms of a sum side by side.
void multiply_float8(Context& context, const TensorView& a, const TensorView& scale_a, const TensorView& b,
                     const TensorView& scale_b, TensorView c, const void* bias, bool accumulate) {
  if (c.size() == 0 || a.size() == 0) return;
  const Product product{.m = c.shape[0],
                        .n = c.shape[1],
                        .k = a.shape[1],
                        .type = a.dtype,
                        .result = c.dtype,
                        .transposed_b = true,
                        .accumulate = accumulate,
                        .bias = bias != nullptr};
  multiply(context, product,
           {a.address, b.address, c.address, bias, elements<float>(scale_a), elements<float>(scale_b)});
}

}  // namespace

void narrow_weights(Context& context, ConstTensorView from, TensorView to) {
  narrow(context, elements<float>(from), from.size(), to.address, to.dtype);
}

void linear_prepare(Context& context, LinearWeight& weight, ConstTensorView bias, DType type,
                    std::int64_t columns) {
  const ConstTensorView y{nullptr, type, Shape{0, columns}};
  weight_for(context, weight, y);
  bias_for(context, weight, bias, y);
}

void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y) {
  if (y.size() == 0) return;
  const void* const w = weight_for(context, weight, y);
  multiply(context, forward_product(x, y, bias),
           {x.address, w, y.address, bias_for(context, weight, bias, y)});
}

void linear_gelu_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                         GeluKind kind, TensorView saved, TensorView y) {
  if (y.size() == 0) return;
  const auto apart = [&] {
    cuda::linear_forward(context, x, weight, bias, saved);
    cuda::gelu_forward(context, saved, y, kind);
  };
  Product product = forward_product(x, y, bias);
  if (!may_end(kind, product)) return apart();
  product.end = ProductEnd::gelu_forward;
  const void* const w = weight_for(context, weight, y);
  const ProductOperands operands{.a = x.address,
                                 .b = w,
                                 .c = y.address,
                                 .bias = bias_for(context, weight, bias, y),
                                 .gelu_input = saved.address};
  const EndedProduct ended{product, [&] { return try_multiply(context, product, operands); }};
  multiply_one_way(context, {&ended, 1}, apart);
}

void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                           const ProductOptions& options) {
  if (dx.size() == 0) return;
  const Product product{.m = dx.shape[0],
                        .n = dx.shape[1],
                        .k = dy.shape[1],
                        .type = dy.dtype,
                        .result = dx.dtype,
                        .accumulate = options.accumulate};
  const ProductOperands operands{.a = dy.address, .b = weight_for(context, weight, dy), .c = dx.address};
  if (options.gelu.values.address != nullptr && may_end(options.gelu.kind, product))
    return multiply_with_gelu(context, product, operands, options);
  multiply(context, product, operands);
  finish(context, options, dx);
}

void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db) {
  if (dy.size() == 0) return;
  // Where dy is padded the last few rows go alone, so that the others are read in aligned vectors.
  const std::int64_t out = dw.shape[0];
  const std::int64_t aligned = dy.shape[1] > out ? out / kAlignedRows * kAlignedRows : out;
  add_weight_gradient(context, x, dy, dw, 0, aligned);
  add_weight_gradient(context, x, dy, dw, aligned, out - aligned);
  if (db.address != nullptr) add_column_sums(context, dy, db);
}

void float8_linear_prepare(Context& context, LinearWeight& weight, ConstTensorView bias, DType type) {
  bias_for(context, weight, bias, {nullptr, type, Shape{0, weight.master.shape[0]}});
}

void float8_linear_forward(Context& context, const Float8Matrix& x, LinearWeight& weight,
                           ConstTensorView bias, TensorView y) {
  const Float8Matrix w = float8_copies(weight);
  multiply_float8(context, x.by_rows, x.scale, w.by_rows, w.scale, y, bias_for(context, weight, bias, y),
                  false);
}

void float8_linear_backward_input(Context& context, const Float8Matrix& dy, LinearWeight& weight,
                                  TensorView dx, const ProductOptions& options) {
  const Float8Matrix w = float8_copies(weight);
  multiply_float8(context, dy.by_rows, dy.scale, w.by_columns, w.scale, dx, nullptr, options.accumulate);
  if (dx.size() > 0) finish(context, options, dx);
}

void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                   TensorView dw) {
  multiply_float8(context, dy.by_columns, dy.scale, x.by_columns, x.scale, dw, nullptr, true);
}

}  // namespace podium::ops::cuda
