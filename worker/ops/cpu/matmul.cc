#include "worker/ops/cpu/matmul.h"

#include "common/base/check.h"
#include "worker/ops/cpu/convert.h"

namespace podium::ops::cpu {
namespace {

constexpr int kFactorArgument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

bool has_bf16_instructions() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx:
      return true;
    default:
      return false;
  }
}

bool any_is(const MatmulSpec& spec, DType dtype) {
  return spec.a.dtype == dtype || spec.b.dtype == dtype || spec.c.dtype == dtype;
}

bool must_widen(const MatmulSpec& spec) {
  return any_is(spec, DType::f16) || (any_is(spec, DType::bf16) && !has_bf16_instructions());
}

dnnl::memory::data_type dnnl_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return dnnl::memory::data_type::f32;
    case DType::bf16:
      return dnnl::memory::data_type::bf16;
    case DType::i8:
      return dnnl::memory::data_type::s8;
    default:
      PODIUM_CHECK(false, "matrix products of oneDNN run in f32, bf16 or i8");
  }
}

dnnl::memory::desc layout(std::int64_t rows, std::int64_t columns, const MatmulOperand& operand,
                          bool widened) {
  using Tag = dnnl::memory::format_tag;
  const Tag tag = operand.packed ? Tag::any : operand.transposed ? Tag::ba : Tag::ab;
  return {{rows, columns}, widened ? dnnl::memory::data_type::f32 : dnnl_type(operand.dtype), tag};
}

}  // namespace

Matmul::Matmul(const dnnl::engine& engine, const MatmulSpec& spec) : spec_(spec), widened_(must_widen(spec)) {
  PODIUM_CHECK(!(spec.accumulate && spec.multiply), "a product accumulates or is multiplied, not both");
  PODIUM_CHECK(!(spec.b.packed && spec.pack_b), "an operand is packed once");
  const auto a = layout(spec.m, spec.k, spec.a, widened_);
  const auto plain_b = layout(spec.k, spec.n, spec.b, widened_);
  const auto b =
      spec.pack_b ? layout(spec.k, spec.n, {.dtype = spec.b.dtype, .packed = true}, widened_) : plain_b;
  const auto c = layout(spec.m, spec.n, spec.c, widened_);
  const dnnl::memory::desc bias({1, spec.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);

  dnnl::post_ops after;
  if (spec.accumulate) after.append_sum(1.0F);
  if (spec.multiply) after.append_binary(dnnl::algorithm::binary_mul, c);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  const auto operation = spec.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
  const dnnl::matmul::primitive_desc compiled(operation, attributes, engine);
  primitive_ = dnnl::matmul(compiled);

  arguments_[DNNL_ARG_SRC] = dnnl::memory(a, engine, nullptr);
  arguments_[DNNL_ARG_DST] = dnnl::memory(c, engine, nullptr);
  if (spec.b.packed) {
    packed_layout_ = compiled.weights_desc();
  } else {
    arguments_[DNNL_ARG_WEIGHTS] = dnnl::memory(compiled.weights_desc(), engine, nullptr);
  }
  if (spec.pack_b) {
    plain_b_ = dnnl::memory(plain_b, engine, nullptr);
    packing_ = dnnl::reorder(plain_b_, arguments_.at(DNNL_ARG_WEIGHTS));
  }
  if (spec.bias) arguments_[DNNL_ARG_BIAS] = dnnl::memory(bias, engine, nullptr);
  if (spec.multiply) arguments_[kFactorArgument] = dnnl::memory(c, engine, nullptr);
}

void Matmul::run(MatmulRuntime& runtime, const MatmulPointers& pointers) {
  PODIUM_CHECK(!spec_.b.packed, "a packed operand comes as memory of the packed layout");
  run_either(runtime, pointers);
}

void Matmul::run(MatmulRuntime& runtime, const MatmulPointers& pointers, const dnnl::memory& packed_b) {
  PODIUM_CHECK(spec_.b.packed, "a product made for a plain operand got a packed one");
  arguments_[DNNL_ARG_WEIGHTS] = packed_b;
  run_either(runtime, pointers);
}

void Matmul::run_either(MatmulRuntime& runtime, const MatmulPointers& pointers) {
  if (widened_) {
    execute_widened(runtime, pointers);
  } else {
    execute(runtime, pointers);
  }
}

void Matmul::execute(MatmulRuntime& runtime, const MatmulPointers& pointers) {
  const auto set = [&](int argument, const void* address) {
    arguments_.at(argument).set_data_handle(
        const_cast<void*>(address));  // oneDNN has one type for in and out
  };
  set(DNNL_ARG_SRC, pointers.a);
  set(DNNL_ARG_DST, pointers.c);
  const ArenaScope scope(runtime.scratch);
  if (spec_.pack_b) {
    pack(runtime, pointers.b);
  } else if (!spec_.b.packed) {
    set(DNNL_ARG_WEIGHTS, pointers.b);
  }
  if (spec_.bias) set(DNNL_ARG_BIAS, pointers.bias);
  if (spec_.multiply) set(kFactorArgument, pointers.factor);
  primitive_.execute(runtime.stream, arguments_);
}

void Matmul::pack(MatmulRuntime& runtime, const void* b) {
  dnnl::memory& packed = arguments_.at(DNNL_ARG_WEIGHTS);
  packed.set_data_handle(runtime.scratch.allocate_bytes(packed.get_desc().get_size()));
  plain_b_.set_data_handle(const_cast<void*>(b));
  packing_.execute(runtime.stream, plain_b_, packed);
}

void Matmul::execute_widened(MatmulRuntime& runtime, const MatmulPointers& pointers) {
  const ArenaScope scope(runtime.scratch);
  const auto wide = [&](const void* address, DType dtype, std::int64_t count, bool read) -> const void* {
    if (dtype == DType::f32 || address == nullptr) return address;
    auto* const copy = runtime.scratch.allocate(DType::f32, Shape{count}).data<float>();
    if (read) widen(address, dtype, count, copy, runtime.threads);
    return copy;
  };
  MatmulPointers wider = pointers;
  wider.a = wide(pointers.a, spec_.a.dtype, spec_.m * spec_.k, true);
  wider.b = wide(pointers.b, spec_.b.dtype, spec_.k * spec_.n, true);
  wider.c = const_cast<void*>(wide(pointers.c, spec_.c.dtype, spec_.m * spec_.n, spec_.accumulate));
  wider.factor = wide(pointers.factor, spec_.c.dtype, spec_.m * spec_.n, true);
  execute(runtime, wider);
  if (wider.c != pointers.c) {
    narrow(static_cast<const float*>(wider.c), spec_.m * spec_.n, pointers.c, spec_.c.dtype, runtime.threads);
  }
}

}  // namespace podium::ops::cpu
