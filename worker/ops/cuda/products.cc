// Each product's algorithm is chosen once, when the product first comes up: the library's first that can do
// it, the same in every process, or, where the context need not be deterministic, the fastest. That must not
// be while a graph is recorded.
#include <algorithm>
#include <map>
#include <optional>

#include "common/base/check.h"
#include "worker/ops/cuda/device_memory.h"
#include "worker/ops/cuda/product_library.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/stopwatch.h"

namespace podium::ops::cuda {
namespace {

constexpr std::uintptr_t kAlignmentBytes = 16;
constexpr int kTimedRuns = 5;

// A context's choices; see CudaState::products.
class Products final : public BackendState {
 public:
  // False: the library cannot do it.
  bool run(Context& context, const Product& product, const ProductOperands& operands) {
    const auto found = chosen_.find(product);
    if (found == chosen_.end()) return choose_and_run(context, product, operands);
    if (!found->second) return false;
    if (!library_->start(cuda_state(context).stream(), product, operands, *found->second))
      throw CudaError("cuBLASLt refuses " + name_of(product) + ", which it has computed before");
    return true;
  }

 private:
  bool choose_and_run(Context& context, const Product& product, const ProductOperands& operands) {
    std::vector<ProductAlgorithm> algorithms = library_->algorithms(product, operands);
    if (!context.deterministic && algorithms.size() > 1)
      algorithms = fastest(context, product, operands, algorithms);
    for (const ProductAlgorithm& algorithm : algorithms) {
      if (!library_->start(cuda_state(context).stream(), product, operands, algorithm)) continue;
      chosen_.emplace(product, algorithm);
      return true;
    }
    chosen_.emplace(product, std::nullopt);
    return false;
  }

  // None where all are refused.
  std::vector<ProductAlgorithm> fastest(Context& context, const Product& product, ProductOperands operands,
                                        const std::vector<ProductAlgorithm>& candidates) {
    const std::size_t bytes = static_cast<std::size_t>(product.m * product.n) * size_of(product.result);
    const DeviceMemory elsewhere = allocate(bytes, "allocating the result of a timed product");
    operands.c = elsewhere.get();
    const cudaStream_t stream = cuda_state(context).stream();
    Stopwatch stopwatch(stream);
    std::vector<ProductAlgorithm> best;
    float best_ms = 0.0F;
    for (const ProductAlgorithm& candidate : candidates) {
      if (!library_->start(stream, product, operands, candidate)) continue;
      stopwatch.start();
      for (int i = 0; i < kTimedRuns; ++i) library_->start(stream, product, operands, candidate);
      const float duration_ms = stopwatch.stop_ms();
      if (!best.empty() && duration_ms >= best_ms) continue;
      best_ms = duration_ms;
      best = {candidate};
    }
    return best;
  }

  std::unique_ptr<ProductLibrary> library_ = make_product_library();
  std::map<Product, std::optional<ProductAlgorithm>> chosen_;  // none: refused
};

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAlignmentBytes == 0; }

}  // namespace

std::string name_of(const Product& p) {
  return "a product of [" + std::to_string(p.m) + ", " + std::to_string(p.k) + "] and [" +
         std::to_string(p.k) + ", " + std::to_string(p.n) + "] in " + std::string(to_string(p.type)) +
         (p.type_b() == p.type ? "" : " and " + std::string(to_string(p.type_b()))) +
         (p.end == ProductEnd::plain ? "" : ", ended by a GELU");
}

bool try_multiply(Context& context, const Product& product, const ProductOperands& operands) {
  PODIUM_CHECK(aligned(operands.a) && aligned(operands.b) && aligned(operands.c) && aligned(operands.bias),
               "the operands of a CUDA product lie at multiples of 16 bytes");
  std::unique_ptr<BackendState>& products = cuda_state(context).products;
  if (!products) products = std::make_unique<Products>();
  return static_cast<Products&>(*products).run(context, product, operands);
}

void multiply(Context& context, const Product& product, const ProductOperands& operands) {
  if (!try_multiply(context, product, operands))
    throw CudaError("cuBLASLt has no algorithm for " + name_of(product));
}

}  // namespace podium::ops::cuda
