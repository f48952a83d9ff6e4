#include "worker/ops/inference_linear.h"

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/convert.h"
#include "worker/ops/cpu/few_rows.h"
#include "worker/ops/cpu/inference_weight.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/product_epilogue.h"

namespace podium::ops::cpu {
namespace {

void multiply(Context& context, ConstTensorView x, DenseWeight& weight, TensorView sums) {
  if (weight.integers != nullptr) return weight.integers->multiply(context, x, sums);
  cpu::linear_forward(context, x, weight.product, {}, sums);
}

// x in the type of the product's operands.
ConstTensorView operand(Context& context, ConstTensorView x, DType type) {
  if (x.dtype == type) return x;
  const TensorView converted = context.scratch.allocate(type, x.shape);
  convert(x, converted, context.threads);
  return converted;
}

void finish_rows(Context& context, const InferenceWeight& weight, const InferenceEpilogue& epilogue,
                 TensorView sums, TensorView y) {
  const std::int64_t columns = y.shape[1];
  parallel_ranges(context.threads, y.shape[0], 1, [&](Range rows, int) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row)  // while its sums are at hand
      finish_tile(weight, epilogue, {row, 1, 0, columns}, sums.data<float>() + row * columns, columns, y);
  });
}

// By what a back end makes of the weight.
void multiply_packed(Context& context, ConstTensorView x, InferenceWeight& weight,
                     const InferenceEpilogue& epilogue, TensorView y) {
  DenseWeight& dense =
      dense_weight(context, weight, product_plan(weight.values.dtype, dnnl::get_effective_cpu_isa()));
  const ConstTensorView operands = operand(context, x, dense.plan.type);
  if (dense.plan.way == ProductWay::panels) {
    return multiply_by_panels(context, operands, dense.panels, [&](const Tile& tile, float* sums) {
      finish_tile(weight, epilogue, tile, sums, kPanelOutputs, y);
    });
  }
  const TensorView sums = context.scratch.allocate(DType::f32, y.shape);
  multiply(context, operands, dense, sums);
  finish_rows(context, weight, epilogue, sums, y);
}

}  // namespace

void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y) {
  const ArenaScope scope(context.scratch);
  if (weight.positions.address == nullptr && multiplies_few_rows(x.shape[0], x.dtype)) {
    const TensorView sums = context.scratch.allocate(DType::f32, y.shape);
    return multiply_few_rows(context, x, weight.values, sums, [&](Range outputs) {
      finish_tile(weight, epilogue, {0, y.shape[0], outputs.begin, outputs.end - outputs.begin},
                  sums.data<float>() + outputs.begin, y.shape[1], y);
    });
  }
  multiply_packed(context, x, weight, epilogue, y);
  if (!weight.keeps_packed) weight.packed.reset();
}

}  // namespace podium::ops::cpu
