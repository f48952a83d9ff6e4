// The matrix product of worker/ops/cuda/matmul.h as a plain loop, in cuBLASLt's place.
#include <cmath>
#include <numbers>

#include "common/base/check.h"
#include "tests/cuda_shim/products.h"
#include "worker/ops/cuda/product_library.h"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {

static shim::RefusedProducts::Refusal refusal;
static shim::MadeUpProducts::Milliseconds duration;
static std::string library_name = "loops 1";

namespace {

float value_at(const void* values, DType type, std::int64_t i) {
  if (type == DType::f32) return static_cast<const float*>(values)[i];
  if (type == DType::bf16) return to_float(static_cast<const BFloat16*>(values)[i]);
  if (type == DType::e4m3) return to_float(static_cast<const Float8E4M3*>(values)[i]);
  if (type == DType::e5m2) return to_float(static_cast<const Float8E5M2*>(values)[i]);
  if (type == DType::i8) return static_cast<const std::int8_t*>(values)[i];
  PODIUM_CHECK(type == DType::f16, "products take f32, bf16, f16, e4m3, e5m2 and i8 only");
  return to_float(static_cast<const Float16*>(values)[i]);
}

void set_value(void* values, DType type, std::int64_t i, float value) {
  if (type == DType::f32) static_cast<float*>(values)[i] = value;
  if (type == DType::i32) static_cast<std::int32_t*>(values)[i] = static_cast<std::int32_t>(value);
  if (type == DType::bf16) static_cast<BFloat16*>(values)[i] = to_bfloat16(value);
  if (type == DType::f16) static_cast<Float16*>(values)[i] = to_float16(value);
}

// GPT-2's GELU and its derivative, which is sigmoid's form of it: gelu(x) = x sigmoid(2 u).
double gelu_sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-2.0 * std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double s = gelu_sigmoid(x);
  const double inner = 2.0 * std::sqrt(2.0 / std::numbers::pi) * (1.0 + 3.0 * 0.044715 * x * x);
  return s + x * s * (1.0 - s) * inner;
}

float ended(const Product& p, const ProductOperands& operands, std::int64_t i, float sum) {
  if (p.end == ProductEnd::plain) return sum;
  if (p.end == ProductEnd::gelu_backward)
    return static_cast<float>(sum * gelu_slope(value_at(operands.gelu_input, p.result, i)));
  set_value(operands.gelu_input, p.result, i, sum);
  return static_cast<float>(sum * gelu_sigmoid(sum));
}

void multiply_now(const Product& p, const ProductOperands& operands, bool backwards) {
  const std::int64_t pitch = p.pitch_a > 0 ? p.pitch_a : p.transposed_a ? p.m : p.k;
  const float scale = p.is_float8() ? *operands.scale_a * *operands.scale_b : 1.0F;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0.0F;
      for (std::int64_t term = 0; term < p.k; ++term) {
        const std::int64_t k = backwards ? p.k - 1 - term : term;
        sum += value_at(operands.a, p.type, p.transposed_a ? k * pitch + i : i * pitch + k) *
               value_at(operands.b, p.type_b(), p.transposed_b ? j * p.k + k : k * p.n + j);
      }
      sum *= scale;
      if (p.accumulate) sum += value_at(operands.c, p.result, i * p.n + j);
      if (p.bias) sum += value_at(operands.bias, p.result, j);
      set_value(operands.c, p.result, i * p.n + j, ended(p, operands, i * p.n + j, sum));
    }
  }
}

bool refused(const Product& product, int algorithm) {
  return refusal != nullptr && refusal(product, algorithm);
}

class Loops final : public ProductLibrary {
 public:
  std::string name() const override { return library_name; }
  std::vector<ProductAlgorithm> algorithms(const Product& product, const ProductOperands&) override {
    if (refused(product, shim::kEveryAlgorithm)) return {};
    return {{0}, {1}, {2}};
  }
  bool start(cudaStream_t stream, const Product& product, const ProductOperands& operands,
             const ProductAlgorithm& algorithm) override {
    if (refused(product, static_cast<int>(algorithm[0]))) return false;
    const bool backwards = algorithm[0] == 1;
    check_cuda(shim::put_on(stream, [=] { multiply_now(product, operands, backwards); }), "multiplying");
    if (duration != nullptr) shim::pass_time(duration(product, static_cast<int>(algorithm[0])));
    return true;
  }
  Clock::time_point now() const override {
    return Clock::time_point(std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double, std::milli>(shim::time_ms())));
  }
};

}  // namespace

std::unique_ptr<ProductLibrary> make_product_library() { return std::make_unique<Loops>(); }

}  // namespace podium::ops::cuda

namespace podium::shim {

RefusedProducts::RefusedProducts(Refusal refusal) {
  PODIUM_CHECK(ops::cuda::refusal == nullptr, "products are refused already");
  ops::cuda::refusal = std::move(refusal);
}
RefusedProducts::~RefusedProducts() { ops::cuda::refusal = nullptr; }

MadeUpProducts::MadeUpProducts(Milliseconds of_product, std::string library) {
  PODIUM_CHECK(ops::cuda::duration == nullptr, "products are made up already");
  ops::cuda::duration = std::move(of_product);
  ops::cuda::library_name = std::move(library);
}
MadeUpProducts::~MadeUpProducts() {
  ops::cuda::duration = nullptr;
  ops::cuda::library_name = "loops 1";
}

}  // namespace podium::shim
