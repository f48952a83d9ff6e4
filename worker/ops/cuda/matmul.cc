// Products by cuBLASLt. It thinks in columns: our row-major c [m, n] = a b is its column-major
// c^T [n, m] = b^T a^T, so its first operand is our b. Each product's algorithm is chosen once: the first
// that cuBLASLt's heuristic names, the same in every process, or, where the context need not be
// deterministic, the fastest of the first few, timed when the product first comes up. That must not be while
// a graph is recorded.
#include "worker/ops/cuda/matmul.h"

#include <array>
#include <map>
#include <memory>
#include <span>

#include "common/base/check.h"
#include "worker/ops/cuda/cublas_lt.h"
#include "worker/ops/cuda/device_memory.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/stopwatch.h"

namespace podium::ops::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr std::uint32_t kAlignmentBytes = 16;
constexpr int kCandidates = 8;
constexpr int kTimedRuns = 5;

using Operation =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, decltype(&::cublasLtMatmulDescDestroy)>;
using Layout =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, decltype(&::cublasLtMatrixLayoutDestroy)>;
using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                                   decltype(&::cublasLtMatmulPreferenceDestroy)>;

cudaDataType_t cuda_type(DType type) {
  switch (type) {
    case DType::f32:
      return CUDA_R_32F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    case DType::e4m3:
      return CUDA_R_8F_E4M3;
    case DType::e5m2:
      return CUDA_R_8F_E5M2;
    case DType::i8:
      return CUDA_R_8I;
    case DType::i32:
      return CUDA_R_32I;
    default:
      PODIUM_CHECK(false, "CUDA products take f32, bf16, f16, e4m3, e5m2 and i8 only");
  }
}

std::string name_of(const Product& p) {
  return "a product of [" + std::to_string(p.m) + ", " + std::to_string(p.k) + "] and [" +
         std::to_string(p.k) + ", " + std::to_string(p.n) + "] in " + std::string(to_string(p.type)) +
         (p.type_b() == p.type ? "" : " and " + std::string(to_string(p.type_b())));
}

template <class T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check_cublas(cublas_lt().set_operation(operation, attribute, &value, sizeof(value)),
               "describing a product");
}

template <class T>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  check_cublas(cublas_lt().set_preference(preference, attribute, &value, sizeof(value)),
               "saying which algorithms a product may use");
}

// cuBLASLt's GELU is the one with tanh.
cublasLtEpilogue_t epilogue_of(const Product& p) {
  switch (p.end) {
    case ProductEnd::plain:
      return p.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case ProductEnd::gelu_forward:
      return p.bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case ProductEnd::gelu_backward:
      return CUBLASLT_EPILOGUE_DGELU;
  }
  PODIUM_CHECK(false, "unknown end of a product");
}

Operation make_operation(const Product& p) {
  cublasLtMatmulDesc_t made = nullptr;
  const bool is_integer = p.type == DType::i8;
  check_cublas(cublas_lt().make_operation(&made, is_integer ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                                          is_integer ? CUDA_R_32I : CUDA_R_32F),
               "describing a product");
  Operation operation(made, cublas_lt().destroy_operation);
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, p.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, p.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p));
  if (p.end != ProductEnd::plain) set(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.n);
  if (p.bias && p.is_float8()) set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cuda_type(p.result));
  if (p.type == DType::e4m3) set(made, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  return operation;
}

// Of a row-major [rows, columns], which cuBLASLt calls [columns, rows].
Layout make_layout(DType type, std::int64_t rows, std::int64_t columns, std::int64_t pitch = 0) {
  cublasLtMatrixLayout_t made = nullptr;
  check_cublas(cublas_lt().make_layout(&made, cuda_type(type), static_cast<std::uint64_t>(columns),
                                       static_cast<std::uint64_t>(rows), pitch > 0 ? pitch : columns),
               "describing a matrix");
  return {made, cublas_lt().destroy_layout};
}

// Partial sums of a product that is split along k stay in f32.
Preference make_preference() {
  cublasLtMatmulPreference_t made = nullptr;
  check_cublas(cublas_lt().make_preference(&made), "saying which algorithms a product may use");
  Preference preference(made, cublas_lt().destroy_preference);
  set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kWorkspaceBytes});
  set(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(made, attribute, kAlignmentBytes);
  return preference;
}

struct Plan {
  explicit Plan(const Product& p)
      : operation(make_operation(p)),
        a(make_layout(p.type, p.transposed_a ? p.k : p.m, p.transposed_a ? p.m : p.k, p.pitch_a)),
        b(make_layout(p.type_b(), p.transposed_b ? p.n : p.k, p.transposed_b ? p.k : p.n)),
        c(make_layout(p.result, p.m, p.n)),
        beta(p.accumulate ? 1.0F : 0.0F) {}

  Operation operation;
  Layout a, b, c;
  float beta;
  cublasLtMatmulAlgo_t algorithm{};
};

void set_pointers(const Product& product, const ProductOperands& operands, cublasLtMatmulDesc_t operation) {
  if (product.bias) set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  if (product.end != ProductEnd::plain)
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.gelu_input);
  if (!product.is_float8()) return;
  set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.scale_b);
  set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.scale_a);
}

// A context's plans; see CudaState::products.
class Products final : public BackendState {
 public:
  Products() : workspace_(allocate(kWorkspaceBytes, "allocating the workspace of products")) {
    check_cublas(cublas_lt().create(&handle_), "starting cuBLASLt");
  }
  ~Products() override { cublas_lt().destroy(handle_); }

  void run(Context& context, const Product& product, const ProductOperands& operands) {
    auto found = plans_.find(product);
    if (found == plans_.end()) {
      found = plans_.try_emplace(product, product).first;
      choose_algorithm(context, product, operands, found->second);
    }
    check_cublas(start(cuda_state(context).stream(), product, operands, found->second), name_of(product));
  }

 private:
  cublasStatus_t start(cudaStream_t stream, const Product& product, const ProductOperands& operands,
                       const Plan& plan) const {
    constexpr float kAlpha = 1.0F;
    constexpr std::int32_t kIntegerAlpha = 1;  // with i8; beta's zero has the same bits in both types
    const void* const alpha = product.type == DType::i8 ? static_cast<const void*>(&kIntegerAlpha) : &kAlpha;
    set_pointers(product, operands, plan.operation.get());
    return cublas_lt().matmul(handle_, plan.operation.get(), alpha, operands.b, plan.b.get(), operands.a,
                              plan.a.get(), &plan.beta, operands.c, plan.c.get(), operands.c, plan.c.get(),
                              &plan.algorithm, workspace_.get(), kWorkspaceBytes, stream);
  }

  void choose_algorithm(Context& context, const Product& product, const ProductOperands& operands,
                        Plan& plan) const {
    set_pointers(product, operands, plan.operation.get());
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> results{};
    int found = 0;
    const cublasStatus_t status = cublas_lt().get_heuristic(
        handle_, plan.operation.get(), plan.b.get(), plan.a.get(), plan.c.get(), plan.c.get(),
        make_preference().get(), context.deterministic ? 1 : kCandidates, results.data(), &found);
    check_cublas(found == 0 && status == CUBLAS_STATUS_SUCCESS ? CUBLAS_STATUS_NOT_SUPPORTED : status,
                 "choosing an algorithm for " + name_of(product));
    plan.algorithm = results[0].algo;
    if (found > 1)
      take_fastest(context, product, operands, plan,
                   std::span(results).first(static_cast<std::size_t>(found)));
  }

  void take_fastest(Context& context, const Product& product, ProductOperands operands, Plan& plan,
                    std::span<const cublasLtMatmulHeuristicResult_t> candidates) const {
    const std::size_t bytes = static_cast<std::size_t>(product.m * product.n) * size_of(product.result);
    const DeviceMemory elsewhere = allocate(bytes, "allocating the result of a timed product");
    operands.c = elsewhere.get();
    Stopwatch stopwatch(cuda_state(context).stream());
    float fastest_ms = 0.0F;
    cublasLtMatmulAlgo_t fastest = plan.algorithm;
    for (const cublasLtMatmulHeuristicResult_t& candidate : candidates) {
      plan.algorithm = candidate.algo;
      if (start(cuda_state(context).stream(), product, operands, plan) != CUBLAS_STATUS_SUCCESS) continue;
      stopwatch.start();
      for (int i = 0; i < kTimedRuns; ++i)
        check_cublas(start(cuda_state(context).stream(), product, operands, plan), name_of(product));
      const float duration_ms = stopwatch.stop_ms();
      if (fastest_ms > 0.0F && duration_ms >= fastest_ms) continue;
      fastest_ms = duration_ms;
      fastest = candidate.algo;
    }
    plan.algorithm = fastest;
  }

  DeviceMemory workspace_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Product, Plan> plans_;
};

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAlignmentBytes == 0; }

}  // namespace

void multiply(Context& context, const Product& product, const ProductOperands& operands) {
  PODIUM_CHECK(aligned(operands.a) && aligned(operands.b) && aligned(operands.c) && aligned(operands.bias),
               "the operands of a CUDA product lie at multiples of 16 bytes");
  std::unique_ptr<BackendState>& products = cuda_state(context).products;
  if (!products) products = std::make_unique<Products>();
  static_cast<Products&>(*products).run(context, product, operands);
}

}  // namespace podium::ops::cuda
