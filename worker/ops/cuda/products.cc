// Each product's algorithm is chosen once, when the product first comes up: the library's first that can do
// it, the same in every process, or, where products are timed or the context need not be deterministic, the
// fastest. That must not be while a graph is recorded.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "worker/ops/cuda/device_memory.h"
#include "worker/ops/cuda/product_choices.h"
#include "worker/ops/cuda/product_library.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/stopwatch.h"

namespace podium::ops::cuda {
namespace {

constexpr std::uintptr_t kAlignmentBytes = 16;
constexpr int kTimedRuns = 5;

// Of work that has been done once before.
float time_of(Context& context, const auto& work) {
  Stopwatch stopwatch(cuda_state(context).stream());
  stopwatch.start();
  for (int i = 0; i < kTimedRuns; ++i) work();
  return stopwatch.stop_ms() / kTimedRuns;
}

// A context's choices; see CudaState::products.
class Products final : public BackendState {
 public:
  std::string library() const { return library_->name(); }

  // False: the library cannot do it, or another way is faster.
  bool run(Context& context, const Product& product, const ProductOperands& operands) {
    const auto found = chosen_.find(product);
    if (found == chosen_.end()) return choose_and_run(context, product, operands);
    const std::optional<ProductAlgorithm>& algorithm = found->second.algorithm;
    if (!algorithm) return false;
    if (!library_->start(cuda_state(context).stream(), product, operands, *algorithm))
      throw CudaError("cuBLASLt refuses " + name_of(product) +
                      " with the algorithm that was chosen for it; where a checkpoint brought that along, "
                      "training.timed_products: false goes on without it");
    return true;
  }

  void begin_timing(double seconds) {
    timed_.emplace();
    until_ =
        library_->now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  ProductChoices end_timing() {
    ProductChoices choices = *std::exchange(timed_, std::nullopt);
    for (auto& [product, choice] : choices) choice = chosen_.at(product);
    return choices;
  }
  bool may_time(const Product& product) const {
    return timed_ && library_->now() < until_ && !chosen_.contains(product);
  }
  void choose(const Product& product, const ProductChoice& choice) { chosen_[product] = choice; }

 private:
  using Clock = ProductLibrary::Clock;

  bool choose_and_run(Context& context, const Product& product, const ProductOperands& operands) {
    std::vector<ProductAlgorithm> algorithms = library_->algorithms(product, operands);
    const bool times = (!context.deterministic || may_time(product)) && algorithms.size() > 1;
    ProductChoice choice;
    if (times) algorithms = fastest(context, product, operands, algorithms, choice);
    for (const ProductAlgorithm& algorithm : algorithms) {
      if (!library_->start(cuda_state(context).stream(), product, operands, algorithm)) continue;
      choice.algorithm = algorithm;
      break;
    }
    chosen_.emplace(product, choice);
    if (timed_) timed_->emplace(product, ProductChoice{});
    return choice.algorithm.has_value();
  }

  // None where all are refused, all where no room is left to time them in. `choice` gets the times.
  std::vector<ProductAlgorithm> fastest(Context& context, const Product& product, ProductOperands operands,
                                        const std::vector<ProductAlgorithm>& candidates,
                                        ProductChoice& choice) {
    const std::size_t bytes = static_cast<std::size_t>(product.m * product.n) * size_of(product.result);
    const DeviceMemory elsewhere =
        allocate_if_there_is_room(bytes, "allocating the result of a timed product");
    if (elsewhere == nullptr) return candidates;
    operands.c = elsewhere.get();
    const cudaStream_t stream = cuda_state(context).stream();
    std::vector<ProductAlgorithm> best;
    for (const ProductAlgorithm& candidate : candidates) {
      if (!library_->start(stream, product, operands, candidate)) continue;
      const float duration_ms =
          time_of(context, [&] { library_->start(stream, product, operands, candidate); });
      if (best.empty()) choice.first_ms = duration_ms;
      if (!best.empty() && duration_ms >= choice.ms) continue;
      choice.ms = duration_ms;
      best = {candidate};
    }
    return best;
  }

  std::unique_ptr<ProductLibrary> library_ = make_product_library();
  ProductChoices chosen_;
  std::optional<ProductChoices> timed_;  // while products are: those that came up since
  Clock::time_point until_;
};

Products& products_of(Context& context) {
  std::unique_ptr<BackendState>& products = cuda_state(context).products;
  if (!products) products = std::make_unique<Products>();
  return static_cast<Products&>(*products);
}

// Has all that the library is asked for before the fastest way declined from now on.
void race(Context& context, std::span<const EndedProduct> ways, const std::function<void()>& apart) {
  std::vector<float> durations_ms;
  for (const EndedProduct& way : ways)
    durations_ms.push_back(way.run() ? time_of(context, way.run) : std::numeric_limits<float>::infinity());
  apart();
  durations_ms.push_back(time_of(context, apart));
  const auto best = std::ranges::min_element(durations_ms);
  for (std::size_t i = 0; durations_ms.begin() + static_cast<std::ptrdiff_t>(i) < best; ++i)
    if (std::isfinite(durations_ms[i]))
      products_of(context).choose(ways[i].product, {std::nullopt, *best, durations_ms[i]});
}

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAlignmentBytes == 0; }

}  // namespace

std::string name_of(const Product& p) {
  return "a product of [" + std::to_string(p.m) + ", " + std::to_string(p.k) + "] and [" +
         std::to_string(p.k) + ", " + std::to_string(p.n) + "] in " + std::string(to_string(p.type)) +
         (p.type_b() == p.type ? "" : " and " + std::string(to_string(p.type_b()))) +
         (p.end == ProductEnd::plain ? "" : ", ended by a GELU");
}

bool try_multiply(Context& context, const Product& product, const ProductOperands& operands) {
  PODIUM_CHECK(aligned(operands.a) && aligned(operands.b) && aligned(operands.c) && aligned(operands.bias) &&
                   aligned(operands.gelu_input),
               "the operands of a CUDA product lie at multiples of 16 bytes");
  return products_of(context).run(context, product, operands);
}

void multiply(Context& context, const Product& product, const ProductOperands& operands) {
  if (!try_multiply(context, product, operands))
    throw CudaError("cuBLASLt has no algorithm for " + name_of(product));
}

void multiply_one_way(Context& context, std::span<const EndedProduct> ways,
                      const std::function<void()>& apart) {
  if (products_of(context).may_time(ways.front().product)) race(context, ways, apart);
  for (const EndedProduct& way : ways)
    if (way.run()) return;
  apart();
}

std::string product_library(Context& context) { return products_of(context).library(); }

void begin_timing_products(Context& context, double seconds) { products_of(context).begin_timing(seconds); }

nlohmann::json end_timing_products(Context& context) { return to_json(products_of(context).end_timing()); }

void choose_products(Context& context, const nlohmann::json& choices) {
  for (const auto& [product, choice] : product_choices_from_json(choices))
    products_of(context).choose(product, choice);
  ++cuda_state(context).moves;
}

}  // namespace podium::ops::cuda
