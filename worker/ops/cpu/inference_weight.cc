#include "worker/ops/cpu/inference_weight.h"

#include <utility>

#include "worker/ops/cpu/convert.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/panels.h"

namespace podium::ops::cpu {
namespace {

// visit(element of the dense matrix, element of the kept ones) for all that are kept.
template <class Visit>
void for_each_kept(const InferenceWeight& weight, const Visit& visit) {
  const std::int64_t groups = weight.out() * weight.in() / 4;
  const auto* const positions = weight.positions.data<std::uint8_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const int nibble = positions[group / 2] >> (group % 2 * 4);
    visit(4 * group + (nibble & 3), 2 * group);
    visit(4 * group + (nibble >> 2 & 3), 2 * group + 1);
  }
}

// Of a sparse weight.
template <class From, class To, class Convert>
void make_dense(const InferenceWeight& weight, To* to, const Convert& convert) {
  const From* const from = weight.values.data<From>();
  for_each_kept(weight, [&](std::int64_t i, std::int64_t kept) { to[i] = convert(from[kept]); });
}

template <class From>
void make_dense_floats(const InferenceWeight& weight, TensorView to) {
  with_float_type(to.dtype, [&]<class To>(Type<To>) {
    make_dense<From>(weight, to.data<To>(), [](From value) { return from_float<To>(to_float(value)); });
  });
}

Tensor dense_values(const InferenceWeight& weight, DType type, int threads) {
  Tensor dense(type, Shape{weight.out(), weight.in()});
  if (weight.positions.address == nullptr) {
    convert(weight.values, dense.view(), threads);
  } else if (type == DType::i8) {
    make_dense<std::int8_t>(weight, dense.view().data<std::int8_t>(), std::identity());
  } else if (weight.values.dtype == DType::e4m3) {
    make_dense_floats<Float8E4M3>(weight, dense.view());
  } else {
    with_float_type(weight.values.dtype,
                    [&]<class T>(Type<T>) { make_dense_floats<T>(weight, dense.view()); });
  }
  return dense;
}

}  // namespace

ProductPlan product_plan(DType weight, dnnl::cpu_isa isa) {
  const bool matrix_units = includes(isa, dnnl::cpu_isa::avx512_core_amx);
  const auto floats = [&](DType type, bool has_panels) {
    return ProductPlan{has_panels ? ProductWay::panels : ProductWay::onednn, type};
  };
  if (weight == DType::i8)
    return {matrix_units                      ? ProductWay::onednn
            : panels_multiply(DType::i8, isa) ? ProductWay::panels
                                              : ProductWay::wide_integers,
            DType::i8};
  const bool short_floats = panels_multiply(DType::bf16, isa);
  if (weight == DType::bf16 || (weight == DType::e4m3 && short_floats))
    return floats(DType::bf16, short_floats && !matrix_units);
  return floats(DType::f32, panels_multiply(DType::f32, isa));
}

DenseWeight& dense_weight(Context& context, InferenceWeight& weight, const ProductPlan& plan) {
  if (weight.packed) return static_cast<DenseWeight&>(*weight.packed);
  auto made = std::make_unique<DenseWeight>();
  made->plan = plan;
  const bool master = plan.way == ProductWay::onednn && plan.type != DType::i8;  // oneDNN's copies are of f32
  const DType type = master ? DType::f32 : plan.type;
  const bool as_is = weight.values.dtype == type && weight.positions.address == nullptr;
  if (!as_is) made->values = dense_values(weight, type, context.threads);
  const ConstTensorView values = as_is ? weight.values : std::as_const(made->values).view();
  if (plan.way == ProductWay::panels) {
    made->panels = make_panels(values, context.threads);
    made->values = {};
  } else if (plan.way == ProductWay::wide_integers) {
    made->integers = integer_weight_for_any_processor(values);
    made->values = {};
  } else if (plan.type == DType::i8) {
    made->integers = integer_weight_for_matrix_units(values);
  } else {
    made->product.master = values;
    made->product.generation = 1;
  }
  weight.packed = std::move(made);
  return static_cast<DenseWeight&>(*weight.packed);
}

}  // namespace podium::ops::cpu
