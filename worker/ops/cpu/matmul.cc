#include "worker/ops/cpu/matmul.h"

#include "common/base/check.h"

namespace podium::ops::cpu {
namespace {

constexpr int kFactorArgument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

dnnl::memory::desc layout(std::int64_t rows, std::int64_t columns, const MatmulOperand& operand) {
  const auto type = dnnl_type(operand.dtype);
  if (operand.packed) return {{rows, columns}, type, dnnl::memory::format_tag::any};
  const dnnl::memory::dims strides =
      operand.transposed ? dnnl::memory::dims{1, operand.stride} : dnnl::memory::dims{operand.stride, 1};
  return {{rows, columns}, type, strides};
}

}  // namespace

dnnl::memory::data_type dnnl_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return dnnl::memory::data_type::f32;
    case DType::bf16:
      return dnnl::memory::data_type::bf16;
    default:
      PODIUM_CHECK(false, "matrix products on the CPU are f32 or bf16");
  }
}

Matmul::Matmul(const dnnl::engine& engine, const MatmulSpec& spec) {
  PODIUM_CHECK(!(spec.accumulate && spec.multiply), "a product accumulates or is multiplied, not both");
  const auto c = layout(spec.m, spec.n, spec.c);
  dnnl::post_ops after;
  if (spec.accumulate) after.append_sum(1.0F);
  if (spec.multiply) after.append_binary(dnnl::algorithm::binary_mul, c);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);

  const auto a = layout(spec.m, spec.k, spec.a);
  const auto b = layout(spec.k, spec.n, spec.b);
  const dnnl::memory::desc bias({1, spec.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const auto operation = spec.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
  const dnnl::matmul::primitive_desc compiled(operation, attributes, engine);
  primitive_ = dnnl::matmul(compiled);

  arguments_[DNNL_ARG_SRC] = dnnl::memory(a, engine, nullptr);
  arguments_[DNNL_ARG_DST] = dnnl::memory(c, engine, nullptr);
  if (spec.b.packed) {
    packed_layout_ = compiled.weights_desc();
  } else {
    arguments_[DNNL_ARG_WEIGHTS] = dnnl::memory(b, engine, nullptr);
  }
  if (spec.bias) arguments_[DNNL_ARG_BIAS] = dnnl::memory(bias, engine, nullptr);
  if (spec.multiply) arguments_[kFactorArgument] = dnnl::memory(c, engine, nullptr);
}

void Matmul::bind(const MatmulPointers& pointers) {
  const auto set = [&](int argument, const void* address) {
    if (const auto found = arguments_.find(argument); found != arguments_.end()) {
      found->second.set_data_handle(
          const_cast<void*>(address));  // oneDNN has one type for inputs and outputs
    }
  };
  set(DNNL_ARG_SRC, pointers.a);
  set(DNNL_ARG_DST, pointers.c);
  set(DNNL_ARG_BIAS, pointers.bias);
  set(kFactorArgument, pointers.factor);
}

void Matmul::run(dnnl::stream& stream, const MatmulPointers& pointers) {
  bind(pointers);
  arguments_[DNNL_ARG_WEIGHTS].set_data_handle(const_cast<void*>(pointers.b));
  primitive_.execute(stream, arguments_);
}

void Matmul::run(dnnl::stream& stream, const MatmulPointers& pointers, const dnnl::memory& packed_b) {
  bind(pointers);
  arguments_[DNNL_ARG_WEIGHTS] = packed_b;
  primitive_.execute(stream, arguments_);
}

}  // namespace podium::ops::cpu
