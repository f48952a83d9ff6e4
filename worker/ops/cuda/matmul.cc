// Products by cuBLASLt. It thinks in columns: our row-major c [m, n] = a b is its column-major
// c^T [n, m] = b^T a^T, so its first operand is our b.
#include <array>
#include <bit>
#include <map>
#include <memory>

#include "common/base/check.h"
#include "worker/ops/cuda/cublas_lt.h"
#include "worker/ops/cuda/device_memory.h"
#include "worker/ops/cuda/product_library.h"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr std::uint32_t kAlignmentBytes = 16;
constexpr int kCandidates = 8;

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

struct Description {
  explicit Description(const Product& p)
      : operation(make_operation(p)),
        a(make_layout(p.type, p.transposed_a ? p.k : p.m, p.transposed_a ? p.m : p.k, p.pitch_a)),
        b(make_layout(p.type_b(), p.transposed_b ? p.n : p.k, p.transposed_b ? p.k : p.n)),
        c(make_layout(p.result, p.m, p.n)),
        beta(p.accumulate ? 1.0F : 0.0F) {}

  Operation operation;
  Layout a, b, c;
  float beta;
};

void set_pointers(const Product& product, const ProductOperands& operands, cublasLtMatmulDesc_t operation) {
  if (product.bias) set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  if (product.end != ProductEnd::plain)
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.gelu_input);
  if (!product.is_float8()) return;
  set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.scale_b);
  set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.scale_a);
}

// What a product that cuBLASLt cannot do ends with, before anything is computed.
bool is_refusal(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
         status == CUBLAS_STATUS_ARCH_MISMATCH;
}

class CublasProducts final : public ProductLibrary {
 public:
  CublasProducts() : workspace_(allocate(kWorkspaceBytes, "allocating the workspace of products")) {
    check_cublas(cublas_lt().create(&handle_), "starting cuBLASLt");
  }
  ~CublasProducts() override { cublas_lt().destroy(handle_); }

  std::string name() const override { return "cuBLASLt " + std::to_string(cublas_lt().version()); }

  std::vector<ProductAlgorithm> algorithms(const Product& product, const ProductOperands& operands) override {
    const Description& described = description_of(product);
    set_pointers(product, operands, described.operation.get());
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> results{};
    int found = 0;
    const cublasStatus_t status = cublas_lt().get_heuristic(
        handle_, described.operation.get(), described.b.get(), described.a.get(), described.c.get(),
        described.c.get(), make_preference().get(), kCandidates, results.data(), &found);
    if (is_refusal(status)) return {};
    check_cublas(status, "choosing an algorithm for " + name_of(product));
    std::vector<ProductAlgorithm> algorithms;
    for (int i = 0; i < found; ++i)
      algorithms.push_back(std::bit_cast<ProductAlgorithm>(results[static_cast<std::size_t>(i)].algo));
    return algorithms;
  }

  bool start(cudaStream_t stream, const Product& product, const ProductOperands& operands,
             const ProductAlgorithm& algorithm) override {
    constexpr float kAlpha = 1.0F;
    constexpr std::int32_t kIntegerAlpha = 1;  // with i8; beta's zero has the same bits in both types
    const void* const alpha = product.type == DType::i8 ? static_cast<const void*>(&kIntegerAlpha) : &kAlpha;
    const Description& described = description_of(product);
    const auto chosen = std::bit_cast<cublasLtMatmulAlgo_t>(algorithm);
    set_pointers(product, operands, described.operation.get());
    const cublasStatus_t status =
        cublas_lt().matmul(handle_, described.operation.get(), alpha, operands.b, described.b.get(),
                           operands.a, described.a.get(), &described.beta, operands.c, described.c.get(),
                           operands.c, described.c.get(), &chosen, workspace_.get(), kWorkspaceBytes, stream);
    if (is_refusal(status)) return false;
    check_cublas(status, name_of(product));
    return true;
  }

 private:
  const Description& description_of(const Product& product) {
    const auto found = descriptions_.find(product);
    return found != descriptions_.end() ? found->second
                                        : descriptions_.try_emplace(product, product).first->second;
  }

  DeviceMemory workspace_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Product, Description> descriptions_;
};

}  // namespace

std::unique_ptr<ProductLibrary> make_product_library() { return std::make_unique<CublasProducts>(); }

}  // namespace podium::ops::cuda
