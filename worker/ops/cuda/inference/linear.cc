#include "worker/ops/cuda/inference/linear.h"

#include <algorithm>
#include <compare>
#include <map>
#include <span>

#include "worker/ops/cuda/convert.h"
#include "worker/ops/cuda/device_memory.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/inference/sparse.h"
#include "worker/ops/cuda/inference/task.h"
#include "worker/ops/cuda/matmul.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/stopwatch.h"

namespace podium::ops::cuda {
namespace {

constexpr std::int64_t kAlignedBytes = 16;
constexpr std::int64_t kFewRows = 512;     // by rule; more are cuBLASLt's
constexpr std::int64_t kIntegerRows = 32;  // cuBLASLt refuses some products in i8 with fewer
constexpr std::size_t kTimedTiles = 10;
constexpr int kTimedRuns = 5;

int attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "asking for a property of the device");
  return value;
}

// Products that go the same way.
struct Key {
  std::int64_t rows, out, in;
  DType type, y_type;
  bool is_sparse, has_residual;
  Activation activation;

  auto operator<=>(const Key&) const = default;
};

// Of a context; see CudaState::inference.
struct InferenceState final : BackendState {
  explicit InferenceState(cudaStream_t stream)
      : tickets(allocate(kMaxSplitTiles * sizeof(unsigned), "allocating tickets of split products")),
        one(allocate(sizeof(float), "allocating a scale")) {
    constexpr float kOne = 1.0F;
    check_cuda(cudaMemcpyAsync(one.get(), &kOne, sizeof(kOne), cudaMemcpyHostToDevice, stream), "copying");
    check_cuda(cudaMemsetAsync(tickets.get(), 0, kMaxSplitTiles * sizeof(unsigned), stream),
               "clearing memory");
  }

  const int capability =
      10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
  const int shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  DeviceMemory tickets;
  DeviceMemory one;  // cuBLASLt's scale of e4m3: every output has its own, which is applied afterwards
  std::map<Key, InferenceWay> ways;
};

InferenceState& state_of(Context& context) {
  CudaState& state = cuda_state(context);
  if (!state.inference) state.inference = std::make_unique<InferenceState>(state.stream());
  return static_cast<InferenceState&>(*state.inference);
}

struct CudaInferenceWeight final : PackedWeight {
  DeviceMemory metadata;    // of a sparse weight
  DeviceMemory dense;       // of a sparse weight, where cuBLASLt multiplies by it
  DeviceMemory short_bias;  // in the type of the weight, where cuBLASLt adds it
};

CudaInferenceWeight& packed(Context& context, InferenceWeight& weight) {
  if (!weight.packed) {
    auto made = std::make_unique<CudaInferenceWeight>();
    if (weight.positions.address != nullptr) {
      made->metadata = allocate(metadata_bytes(weight), "allocating a sparse weight's metadata");
      order_metadata(context, weight, made->metadata.get());
    }
    // Kernels read weights before those in front of them in the stream are done.
    check_cuda(cudaStreamSynchronize(cuda_state(context).stream()), "waiting for a weight");
    weight.packed = std::move(made);
  }
  return static_cast<CudaInferenceWeight&>(*weight.packed);
}

std::int64_t row_bytes(const ConstTensorView& matrix) {
  return matrix.shape[1] * static_cast<std::int64_t>(size_of(matrix.dtype));
}

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAlignedBytes == 0; }

InferenceFinish finish_of(const InferenceProduct& p) {
  return {.scales = elements<float>(p.weight.scales),
          .bias = elements<float>(p.weight.bias),
          .residual = p.epilogue.residual.address,
          .y = p.y.address,
          .inverse_scale = 1.0F / p.epilogue.y_scale,
          .type = p.y.dtype,
          .activation = p.epilogue.activation,
          .rows = static_cast<int>(p.y.shape[0]),
          .out = static_cast<int>(p.y.shape[1])};
}

void compute_by_tiles(Context& context, const InferenceProduct& p, TilePlan plan) {
  InferenceState& state = state_of(context);
  const CudaInferenceWeight& prepared = packed(context, p.weight);
  InferenceTask task{.weight = elements<unsigned char>(p.weight.values),
                     .metadata = static_cast<const unsigned char*>(prepared.metadata.get()),
                     .x = elements<unsigned char>(p.x),
                     .weight_bytes = static_cast<int>(row_bytes(p.weight.values)),
                     .x_bytes = static_cast<int>(row_bytes(p.x)),
                     .tickets = static_cast<unsigned*>(state.tickets.get()),
                     .finish = finish_of(p)};
  if (plan.splits > 1) {
    const TileSize& tile = kTileSizes[plan.tile];
    const auto parts = [](std::int64_t whole, int part) {
      return static_cast<std::size_t>((whole + part - 1) / part);
    };
    const std::size_t tiles = parts(p.y.shape[0], tile.rows) * parts(p.y.shape[1], tile.out);
    task.partial_sums = cuda_state(context).scratch(
        tiles * static_cast<std::size_t>(plan.splits * tile.out * tile.rows) * sizeof(float));
  }
  const bool overlaps = cuda_state(context).overlaps_launches();
  switch (p.x.dtype) {
    case DType::f16:
      return launch_inference_kernel<__half>(context, task, plan, overlaps);
    case DType::bf16:
      return launch_inference_kernel<__nv_bfloat16>(context, task, plan, overlaps);
    case DType::i8:
      return launch_inference_kernel<std::int8_t>(context, task, plan, overlaps);
    default:
      return launch_inference_kernel<Float8E4M3>(context, task, plan, overlaps);
  }
}

// The bias in the type of the sums.
const void* bias_for(Context& context, InferenceWeight& weight, DType type) {
  if (type == DType::f32) return weight.bias.address;
  DeviceMemory& bias = packed(context, weight).short_bias;
  if (!bias) {
    bias = allocate(weight.bias.bytes(), "allocating a bias");
    narrow(context, elements<float>(weight.bias), weight.bias.size(), bias.get(), type);
  }
  return bias.get();
}

const void* dense_values(Context& context, InferenceWeight& weight) {
  if (weight.positions.address == nullptr) return weight.values.address;
  DeviceMemory& dense = packed(context, weight).dense;
  if (!dense) {
    dense = allocate(2 * weight.values.bytes(), "allocating a sparse weight's dense form");
    expand(context, weight, dense.get());
  }
  return dense.get();
}

// What cuBLASLt leaves its sums in. 16-bit ones are rounded once more than those of tiles, as in training.
DType sums_type(const InferenceProduct& p) {
  if (p.x.dtype == DType::i8) return DType::i32;
  return size_of(p.x.dtype) == 2 && size_of(p.y.dtype) == 2 ? p.x.dtype : DType::f32;
}

bool compute_by_library(Context& context, const InferenceProduct& p) {
  const DType sums = sums_type(p);
  const bool in_place = p.y.dtype == sums && p.epilogue.residual.address == nullptr;
  const bool is_simple =
      in_place && p.epilogue.activation == Activation::none && p.weight.scales.address == nullptr;
  const Product product{.m = p.y.shape[0],
                        .n = p.y.shape[1],
                        .k = p.x.shape[1],
                        .type = p.x.dtype,
                        .result = sums,
                        .transposed_b = true,
                        .bias = is_simple && p.weight.bias.address != nullptr};
  void* const to = in_place
                       ? p.y.address
                       : cuda_state(context).scratch(static_cast<std::size_t>(p.y.size()) * size_of(sums));
  const auto* const one = static_cast<const float*>(state_of(context).one.get());
  const ProductOperands operands{.a = p.x.address,
                                 .b = dense_values(context, p.weight),
                                 .c = to,
                                 .bias = product.bias ? bias_for(context, p.weight, sums) : nullptr,
                                 .scale_a = one,
                                 .scale_b = one};
  if (!try_multiply(context, product, operands)) return false;
  if (!is_simple) finish_inference(context, {to, sums, p.y.shape}, finish_of(p));
  return true;
}

// Of one run, with x in the second-level cache and the weight out of it.
float time_ms(Context& context, const InferenceProduct& p, const InferenceWay& way,
              const DeviceMemory& elsewhere, std::size_t cache_bytes) {
  const cudaStream_t stream = cuda_state(context).stream();
  Stopwatch stopwatch(stream);
  float fastest_ms = 0.0F;
  for (int i = 0; i < kTimedRuns; ++i) {
    check_cuda(cudaMemsetAsync(elsewhere.get(), 0, cache_bytes, stream), "clearing memory");
    check_cuda(cudaMemcpyAsync(elsewhere.get(), p.x.address, std::min(cache_bytes, p.x.bytes()),
                               cudaMemcpyDeviceToDevice, stream),
               "copying");
    stopwatch.start();
    compute(context, p, way);
    const float duration_ms = stopwatch.stop_ms();
    if (i == 0 || duration_ms < fastest_ms) fastest_ms = duration_ms;
  }
  return fastest_ms;
}

// None where all are refused.
std::vector<InferenceWay> fastest(Context& context, const InferenceProduct& product,
                                  std::span<const InferenceWay> ways) {
  const std::size_t cache_bytes = 2 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
  const DeviceMemory elsewhere = allocate(cache_bytes, "allocating memory to time products with");
  const DeviceMemory y = allocate(product.y.bytes(), "allocating the result of a timed product");
  InferenceProduct timed{product.x, product.weight, product.epilogue, product.y};
  timed.y.address = y.get();  // y itself may be the residual
  std::vector<InferenceWay> best;
  float best_ms = 0.0F;
  for (const InferenceWay& way : ways) {
    if (!compute(context, timed, way)) continue;  // once beforehand: it loads code and allocates
    const float duration_ms = time_ms(context, timed, way, elsewhere, cache_bytes);
    if (!best.empty() && duration_ms >= best_ms) continue;
    best_ms = duration_ms;
    best = {way};
  }
  return best;
}

// In the order in which they are to be tried.
std::vector<InferenceWay> chosen_ways(Context& context, const InferenceProduct& product) {
  std::vector<InferenceWay> ways = inference_ways(context, product);
  if (context.deterministic || ways.size() == 1) return ways;
  std::vector<InferenceWay> timed;
  std::size_t tiles = 0;
  for (const InferenceWay& way : ways)
    if (way.library || tiles++ < kTimedTiles) timed.push_back(way);
  return fastest(context, product, timed);
}

InferenceWay choose_and_compute(Context& context, const InferenceProduct& product) {
  for (const InferenceWay& way : chosen_ways(context, product))
    if (compute(context, product, way)) return way;
  throw CudaError("cuBLASLt has no algorithm for an inference product of " + to_string(product.x.shape) +
                  " by " + to_string(product.weight.values.shape) + " in " +
                  std::string(to_string(product.x.dtype)) +
                  ", and the weight's rows are no multiples of 16 bytes, as this library's own would need");
}

void check_operands(const InferenceProduct& p, int capability) {
  PODIUM_CHECK(aligned(p.x.address) && aligned(p.weight.values.address) && aligned(p.y.address) &&
                   aligned(p.epilogue.residual.address) && aligned(p.weight.bias.address) &&
                   aligned(p.weight.scales.address),
               "the operands of a CUDA inference product lie at multiples of 16 bytes");
  if (p.x.dtype == DType::e4m3 && capability < 89)
    throw CudaError("this device multiplies no e4m3, which needs compute capability 8.9: use i8 or f16");
}

}  // namespace

std::vector<InferenceWay> inference_ways(Context& context, const InferenceProduct& p) {
  const bool is_sparse = p.weight.positions.address != nullptr;
  const ProductSizes sizes{p.y.shape[0], p.y.shape[1], row_bytes(p.weight.values), row_bytes(p.x)};
  std::vector<InferenceWay> ways;
  if (p.x.dtype != DType::f32 && sizes.weight_bytes % kAlignedBytes == 0)
    for (const TilePlan plan : tile_plans(sizes, state_of(context).shared_bytes))
      ways.push_back({false, plan});
  const bool is_aligned = sizes.x_bytes % kAlignedBytes == 0 && sizes.out % kAlignedBytes == 0;
  const bool has_rows = p.x.dtype != DType::i8 || sizes.rows >= kIntegerRows || ways.empty();
  if ((size_of(p.x.dtype) > 1 || is_aligned) && has_rows && (!is_sparse || ways.empty()))
    ways.insert(sizes.rows > kFewRows ? ways.begin() : ways.end(), {true, {}});
  if (ways.empty())
    throw CudaError("a weight in " + std::string(to_string(p.x.dtype)) + " with rows of " +
                    std::to_string(sizes.weight_bytes) +
                    " bytes cannot be multiplied on the GPU: they must be multiples of 16 bytes");
  return ways;
}

bool compute(Context& context, const InferenceProduct& product, const InferenceWay& way) {
  if (way.library) return compute_by_library(context, product);
  compute_by_tiles(context, product, way.plan);
  return true;
}

void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y) {
  if (y.size() == 0) return;
  InferenceState& state = state_of(context);
  const InferenceProduct product{x, weight, epilogue, y};
  check_operands(product, state.capability);
  const Key key{.rows = y.shape[0],
                .out = y.shape[1],
                .in = x.shape[1],
                .type = x.dtype,
                .y_type = y.dtype,
                .is_sparse = weight.positions.address != nullptr,
                .has_residual = epilogue.residual.address != nullptr,
                .activation = epilogue.activation};
  const auto found = state.ways.find(key);
  if (found == state.ways.end())
    state.ways.emplace(key, choose_and_compute(context, product));
  else if (!compute(context, product, found->second))
    throw CudaError("cuBLASLt refuses an inference product that it has computed before");
}

}  // namespace podium::ops::cuda
