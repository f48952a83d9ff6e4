// y = x W^T + b, dx = dy W, dW += dy^T x and db += column sums of dy as matrix products. In 16 bits weight
// and bias take part as rounded copies, made once a generation.
#include "worker/ops/cuda/linear.h"

#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/convert.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/gelu.h"
#include "worker/ops/cuda/matmul.h"
#include "worker/ops/cuda/state.h"
#include "worker/tensor/profiler.h"

namespace podium::ops::cuda {
namespace {

// f32 values in a 16-bit type.
class RoundedCopy {
 public:
  RoundedCopy() = default;
  ~RoundedCopy() { cudaFree(memory_); }
  RoundedCopy(const RoundedCopy&) = delete;
  RoundedCopy& operator=(const RoundedCopy&) = delete;

  const void* of(Context& context, ConstTensorView master, std::int64_t generation, DType type) {
    if (memory_ == nullptr) {
      const std::size_t bytes = static_cast<std::size_t>(master.size()) * size_of(type);
      check_cuda(cudaMalloc(&memory_, bytes), "allocating the copy of a weight");
      if (context.profiler != nullptr)
        context.profiler->add_memory("weight copies", static_cast<std::int64_t>(bytes));
    }
    if (generation_ != generation || type_ != type)
      narrow(context, elements<float>(master), master.size(), memory_, type);
    generation_ = generation;
    type_ = type;
    return memory_;
  }

 private:
  void* memory_ = nullptr;
  DType type_ = DType::f32;
  std::int64_t generation_ = 0;
};

struct CudaPackedWeight final : PackedWeight {
  RoundedCopy weight, bias;
};

CudaPackedWeight& packed(LinearWeight& weight) {
  if (!weight.packed) weight.packed = std::make_unique<CudaPackedWeight>();
  return static_cast<CudaPackedWeight&>(*weight.packed);
}

const void* weight_in(Context& context, LinearWeight& weight, DType type) {
  if (type == DType::f32) return weight.master.address;
  return packed(weight).weight.of(context, weight.master, weight.generation, type);
}

const void* bias_in(Context& context, LinearWeight& weight, ConstTensorView bias, DType type) {
  if (type == DType::f32 || bias.address == nullptr) return bias.address;
  return packed(weight).bias.of(context, bias, weight.generation, type);
}

}  // namespace

void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y) {
  if (y.size() == 0) return;
  const Product product{.m = y.shape[0],
                        .n = y.shape[1],
                        .k = x.shape[1],
                        .type = x.dtype,
                        .result = y.dtype,
                        .transposed_b = true,
                        .bias = bias.address != nullptr};
  multiply(
      context, product,
      {x.address, weight_in(context, weight, x.dtype), y.address, bias_in(context, weight, bias, x.dtype)});
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
  multiply(context, product, {dy.address, weight_in(context, weight, dy.dtype), dx.address});
  float* const sums = elements<float>(options.column_sums);
  if (options.multiply_by.address == nullptr && sums != nullptr)
    return add_column_sums(context, dx, {}, sums);
  if (options.multiply_by.address == nullptr) return;
  if (sums == nullptr) return gelu_backward(context, options.multiply_by, dx);
  multiply_and_add_column_sums(context, dx, options.multiply_by, sums);
}

void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db) {
  if (dy.size() == 0) return;
  const Product product{.m = dw.shape[0],
                        .n = dw.shape[1],
                        .k = dy.shape[0],
                        .type = dy.dtype,
                        .result = DType::f32,
                        .transposed_a = true,
                        .accumulate = true};
  multiply(context, product, {dy.address, x.address, dw.address});
  if (db.address != nullptr) add_column_sums(context, dy, {}, elements<float>(db));
}

}  // namespace podium::ops::cuda
