// Multi-tensor optimizers: one launch for all parameters, one block for each chunk of one of them. Each pass
// reads and writes every element once in groups of four; AdamW moves 28 bytes an element, LAMB's two
// passes 40, and 2 more where there is a 16-bit copy of the weights.
#include "common/base/check.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/optimizer.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;
using Four = Pack<float>;

// One chunk's elements.
struct Part {
  float* weights;
  float* gradients;
  float* first;
  float* second;
  std::int64_t begin, count;
  float decay;
  std::int32_t parameter;
};

struct Table {
  const OptimizerChunk* chunks;
  float* weights;
  float* gradients;
  float* first;
  float* second;

  __device__ __forceinline__ Part of_block(float weight_decay) const {
    const OptimizerChunk chunk = chunks[blockIdx.x];
    return {weights + chunk.begin,
            gradients + chunk.begin,
            first + chunk.states,
            second + chunk.states,
            chunk.begin,
            chunk.count,
            chunk.decay != 0 ? weight_decay : 0.0F,
            chunk.parameter};
  }
};

Table table_of(const OptimizerShard& shard) {
  return {shard.chunks.data(), shard.weights, shard.gradients, shard.states[0], shard.states[1]};
}

// step(i, n, load(i, n)) for the groups [i, i + n) of the block's chunk that are this thread's; n is 4 but at
// the chunk's end. Two groups' loads are under way at a time.
template <class Load, class Step>
__device__ __forceinline__ void for_each_four(std::int64_t count, const Load& load, const Step& step) {
  constexpr std::int64_t kStride = std::int64_t{kThreads} * Four::kCount;
  const auto size_at = [&](std::int64_t i) {
    return static_cast<int>(max(std::int64_t{0}, min(count - i, std::int64_t{Four::kCount})));
  };
  for (std::int64_t i = std::int64_t{threadIdx.x} * Four::kCount; i < count; i += 2 * kStride) {
    const int n = size_at(i), next_n = size_at(i + kStride);
    const auto inputs = load(i, n), next = load(i + kStride, next_n);
    step(i, n, inputs);
    step(i + kStride, next_n, next);
  }
}

__device__ __forceinline__ Four load_four(const float* from, int n) {
  if (n == Four::kCount) return *reinterpret_cast<const Four*>(from);
  Four four{};
  for (int k = 0; k < n; ++k) four.values[k] = from[k];
  return four;
}

__device__ __forceinline__ void store_four(float* to, const Four& four, int n) {
  if (n == Four::kCount) {
    *reinterpret_cast<Four*>(to) = four;
  } else {
    for (int k = 0; k < n; ++k) to[k] = four.values[k];
  }
}

// The 16-bit copy of weights; T float: there is none.
template <class T>
__device__ __forceinline__ void store_narrowed(T* to, const Four& four, int n) {
  struct alignas(4 * sizeof(T)) Narrowed {
    T values[Four::kCount];
  };
  if constexpr (sizeof(T) == 2) {
    Narrowed narrowed;
#pragma unroll
    for (int k = 0; k < Four::kCount; ++k) narrowed.values[k] = from_f32<T>(four.values[k]);
    if (n == Four::kCount) {
      *reinterpret_cast<Narrowed*>(to) = narrowed;
    } else {
      for (int k = 0; k < n; ++k) to[k] = narrowed.values[k];
    }
  }
}

// body(T* the copy) with its type; float where there is none.
template <class Body>
void with_narrowed(const OptimizerShard& shard, const Body& body) {
  if (shard.narrowed == nullptr) return body(static_cast<float*>(nullptr));
  if (shard.narrowed_type == DType::bf16) return body(static_cast<__nv_bfloat16*>(shard.narrowed));
  PODIUM_CHECK(shard.narrowed_type == DType::f16, "weights are copied to bf16 or f16");
  body(static_cast<__half*>(shard.narrowed));
}

// The sum over the block's threads, in pairs; on thread 0.
__device__ __forceinline__ double sum_over_block(double value, double (&sums)[kThreads]) {
  sums[threadIdx.x] = value;
  for (unsigned others = kThreads / 2; others > 0; others /= 2) {
    __syncthreads();
    if (threadIdx.x < others) sums[threadIdx.x] += sums[threadIdx.x + others];
  }
  return sums[0];
}

__global__ void __launch_bounds__(kThreads) sum_of_squares_kernel(Table table, double* out) {
  __shared__ double sums[kThreads];
  const Part part = table.of_block(0.0F);
  double sum = 0;
  for_each_four(
      part.count, [&](std::int64_t i, int n) { return load_four(part.gradients + i, n); },
      [&](std::int64_t, int, const Four& g) {
#pragma unroll
        for (int k = 0; k < Four::kCount; ++k) sum += static_cast<double>(g.values[k]) * g.values[k];
      });
  sum = sum_over_block(sum, sums);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// What a group's step starts from.
struct Moments {
  Four gradients, weights, first, second;
};

__device__ __forceinline__ Moments load_moments(const Part& part, std::int64_t i, int n) {
  return {load_four(part.gradients + i, n), load_four(part.weights + i, n), load_four(part.first + i, n),
          load_four(part.second + i, n)};
}

// Moves the moments on by one gradient; m^ / (sqrt(v^) + eps).
__device__ __forceinline__ float step_moments(const Rates& r, float g, float& m, float& v) {
  const float gradient = g * r.gradient_scale;
  m = r.beta1 * m + r.rest1 * gradient;
  v = r.beta2 * v + r.rest2 * (gradient * gradient);
  return m * r.correction1 / (sqrtf(v) * r.correction2 + r.epsilon);
}

template <class T>
__global__ void __launch_bounds__(kThreads) adamw_kernel(Table table, Rates rates, T* narrowed) {
  const Part part = table.of_block(rates.weight_decay);
  const float keep = 1.0F - rates.learning_rate * part.decay;
  for_each_four(
      part.count, [&](std::int64_t i, int n) { return load_moments(part, i, n); },
      [&](std::int64_t i, int n, Moments at) {
#pragma unroll
        for (int k = 0; k < Four::kCount; ++k) {
          const float ratio =
              step_moments(rates, at.gradients.values[k], at.first.values[k], at.second.values[k]);
          at.weights.values[k] = keep * at.weights.values[k] - rates.learning_rate * ratio;
        }
        store_four(part.weights + i, at.weights, n);
        store_narrowed(narrowed + part.begin + i, at.weights, n);
        store_four(part.first + i, at.first, n);
        store_four(part.second + i, at.second, n);
        store_four(part.gradients + i, {}, n);
      });
}

__global__ void __launch_bounds__(kThreads)
    lamb_direction_kernel(Table table, Rates rates, Squares* squares) {
  __shared__ double sums[2][kThreads];
  const Part part = table.of_block(rates.weight_decay);
  double weights = 0, direction = 0;
  for_each_four(
      part.count, [&](std::int64_t i, int n) { return load_moments(part, i, n); },
      [&](std::int64_t i, int n, Moments at) {
#pragma unroll
        for (int k = 0; k < Four::kCount; ++k) {
          const float w = at.weights.values[k];
          const float u =
              step_moments(rates, at.gradients.values[k], at.first.values[k], at.second.values[k]) +
              part.decay * w;
          at.gradients.values[k] = u;
          weights += static_cast<double>(w) * w;
          direction += static_cast<double>(u) * u;
        }
        store_four(part.first + i, at.first, n);
        store_four(part.second + i, at.second, n);
        store_four(part.gradients + i, at.gradients, n);
      });
  weights = sum_over_block(weights, sums[0]);
  direction = sum_over_block(direction, sums[1]);
  if (threadIdx.x == 0) squares[blockIdx.x] = {weights, direction};
}

// A block for each parameter; thread t adds its chunks t, t + kThreads, ...
__global__ void __launch_bounds__(kThreads)
    lamb_scales_kernel(const OptimizerChunk* chunks, const std::int32_t* begins, const Squares* squares,
                       float learning_rate, float* scales) {
  __shared__ double sums[2][kThreads];
  const std::int32_t begin = begins[blockIdx.x], end = begins[blockIdx.x + 1];
  double weights = 0, direction = 0;
  for (std::int32_t c = begin + static_cast<std::int32_t>(threadIdx.x); c < end;
       c += static_cast<std::int32_t>(kThreads)) {
    weights += squares[c].weights;
    direction += squares[c].direction;
  }
  weights = sum_over_block(weights, sums[0]);
  direction = sum_over_block(direction, sums[1]);
  if (threadIdx.x > 0) return;
  const bool trusts = begin < end && chunks[begin].decay != 0 && weights > 0 && direction > 0;
  scales[blockIdx.x] =
      static_cast<float>(static_cast<double>(learning_rate) * (trusts ? sqrt(weights / direction) : 1.0));
}

template <class T>
__global__ void __launch_bounds__(kThreads) lamb_step_kernel(Table table, const float* scales, T* narrowed) {
  const Part part = table.of_block(0.0F);
  const float scale = scales[part.parameter];
  struct Inputs {
    Four direction, weights;
  };
  for_each_four(
      part.count,
      [&](std::int64_t i, int n) {
        return Inputs{load_four(part.gradients + i, n), load_four(part.weights + i, n)};
      },
      [&](std::int64_t i, int n, Inputs at) {
#pragma unroll
        for (int k = 0; k < Four::kCount; ++k) at.weights.values[k] -= scale * at.direction.values[k];
        store_four(part.weights + i, at.weights, n);
        store_narrowed(narrowed + part.begin + i, at.weights, n);
        store_four(part.gradients + i, {}, n);
      });
}

unsigned blocks_of(const OptimizerShard& shard) { return static_cast<unsigned>(shard.chunks.size()); }

}  // namespace

void sum_of_squares(Context& context, const OptimizerShard& shard, std::span<double> sums) {
  launch(context, "sum_of_squares", sum_of_squares_kernel, blocks_of(shard), kThreads, 0, table_of(shard),
         sums.data());
}

void adamw(Context& context, const OptimizerShard& shard, const Rates& rates) {
  with_narrowed(shard, [&]<class T>(T* narrowed) {
    launch(context, "adamw", adamw_kernel<T>, blocks_of(shard), kThreads, 0, table_of(shard), rates,
           narrowed);
  });
}

void lamb_direction(Context& context, const OptimizerShard& shard, const Rates& rates,
                    std::span<Squares> squares) {
  launch(context, "lamb_direction", lamb_direction_kernel, blocks_of(shard), kThreads, 0, table_of(shard),
         rates, squares.data());
}

void lamb_scales(Context& context, const OptimizerShard& shard, std::span<const std::int32_t> chunk_begins,
                 std::span<const Squares> squares, float learning_rate, std::span<float> scales) {
  launch(context, "lamb_scales", lamb_scales_kernel, static_cast<unsigned>(scales.size()), kThreads, 0,
         shard.chunks.data(), chunk_begins.data(), squares.data(), learning_rate, scales.data());
}

void lamb_step(Context& context, const OptimizerShard& shard, std::span<const float> scales) {
  with_narrowed(shard, [&]<class T>(T* narrowed) {
    launch(context, "lamb_step", lamb_step_kernel<T>, blocks_of(shard), kThreads, 0, table_of(shard),
           scales.data(), narrowed);
  });
}

}  // namespace podium::ops::cuda
