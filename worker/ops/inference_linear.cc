#include "worker/ops/inference_linear.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_weight(const InferenceWeight& weight) {
  PODIUM_CHECK(weight.values.shape.rank() == 2, "a weight is a matrix");
  const std::int64_t out = weight.out(), in = weight.in();
  if (weight.positions.address != nullptr) {
    PODIUM_CHECK(in % 8 == 0, "a sparse weight has a multiple of 8 inputs");
    check_tensor(weight.positions, DType::u8, Shape{out, in / 8}, "positions");
  }
  PODIUM_CHECK(is_quantised(weight.values.dtype) == (weight.scales.address != nullptr),
               "weights of 8 bits have scales, others none");
  if (weight.scales.address != nullptr) check_tensor(weight.scales, DType::f32, Shape{out}, "scales");
  if (weight.bias.address != nullptr) check_tensor(weight.bias, DType::f32, Shape{out}, "bias");
}

}  // namespace

void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y) {
  check_weight(weight);
  const std::int64_t rows = x.shape[0], out = weight.out(), in = weight.in();
  check_tensor(x, weight.values.dtype, Shape{rows, in}, "x");
  check_tensor(y, y.dtype, Shape{rows, out}, "y");
  if (epilogue.residual.address != nullptr) {
    PODIUM_CHECK(!is_quantised(y.dtype), "a sum with a residual is not quantised at once");
    check_tensor(epilogue.residual, y.dtype, y.shape, "residual");
  }
  const ProfileScope scope(context, "inference_linear",
                           {.flops = 2.0 * static_cast<double>(rows) * static_cast<double>(out * in),
                            .bytes = bytes_of(x, weight.values, weight.positions, epilogue.residual, y),
                            .shape = {rows, out, in}});
  backend(context).inference_linear(context, x, weight, epilogue, y);
}

}  // namespace podium::ops
