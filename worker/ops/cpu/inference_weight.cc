#include "worker/ops/cpu/inference_weight.h"

#include <utility>

#include "worker/ops/cpu/dispatch.h"

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

template <class From, class To, class Convert>
void make_dense(const InferenceWeight& weight, To* to, const Convert& convert) {
  const From* const from = weight.values.data<From>();
  if (weight.positions.address == nullptr) {
    for (std::int64_t i = 0; i < weight.out() * weight.in(); ++i) to[i] = convert(from[i]);
  } else {
    for_each_kept(weight, [&](std::int64_t i, std::int64_t kept) { to[i] = convert(from[kept]); });
  }
}

template <class From>
void make_dense_floats(const InferenceWeight& weight, TensorView to) {
  with_float_type(to.dtype, [&]<class To>(Type<To>) {
    make_dense<From>(weight, to.data<To>(), [](From value) { return from_float<To>(to_float(value)); });
  });
}

Tensor dense_values(const InferenceWeight& weight, DType type) {
  Tensor dense(type, Shape{weight.out(), weight.in()});
  if (type == DType::i8) {
    make_dense<std::int8_t>(weight, dense.view().data<std::int8_t>(), std::identity());
  } else if (weight.values.dtype == DType::e4m3) {
    make_dense_floats<Float8E4M3>(weight, dense.view());
  } else {
    with_float_type(weight.values.dtype,
                    [&]<class T>(Type<T>) { make_dense_floats<T>(weight, dense.view()); });
  }
  return dense;
}

bool includes(dnnl::cpu_isa isa, dnnl::cpu_isa part) {
  const auto bits = static_cast<unsigned>(part);
  return (static_cast<unsigned>(isa) & bits) == bits;
}

}  // namespace

ProductPlan product_plan(DType weight, dnnl::cpu_isa isa) {
  using Isa = dnnl::cpu_isa;
  const bool matrix_units = includes(isa, Isa::avx512_core_amx);
  const auto floats = [&](DType type, bool has_panels) {
    return ProductPlan{has_panels ? ProductWay::panels : ProductWay::onednn, type};
  };
  if (weight == DType::i8)
    return {matrix_units                           ? ProductWay::onednn
            : includes(isa, Isa::avx512_core_vnni) ? ProductWay::panels
                                                   : ProductWay::wide_integers,
            DType::i8};
  const bool short_floats = includes(isa, Isa::avx512_core_bf16);
  if (weight == DType::bf16 || (weight == DType::e4m3 && short_floats))
    return floats(DType::bf16, short_floats && !matrix_units);
  return floats(DType::f32, includes(isa, Isa::avx512_core));
}

DenseWeight& dense_weight(Context& context, InferenceWeight& weight, const ProductPlan& plan) {
  if (weight.packed) return static_cast<DenseWeight&>(*weight.packed);
  auto made = std::make_unique<DenseWeight>();
  made->plan = plan;
  const bool master = plan.way == ProductWay::onednn && plan.type != DType::i8;  // oneDNN's copies are of f32
  const DType type = master ? DType::f32 : plan.type;
  const bool as_is = weight.values.dtype == type && weight.positions.address == nullptr;
  if (!as_is) made->values = dense_values(weight, type);
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
