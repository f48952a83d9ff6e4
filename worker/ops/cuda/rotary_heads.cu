// Turns queries and keys and repeats the heads of keys and values; formulas in worker/ops/rotary_heads.h. A
// block computes a row; a thread takes eight columns of a head's lower half and the eight that they pair with
// in its upper half, and goes through the heads of the projection in steps of the block.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/rotary_heads.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 128;

struct Heads {
  std::int64_t heads, key_value_heads, half, length;
  const std::int32_t* positions;  // or null
  const float* table;

  explicit Heads(const RotaryHeads& rotary)
      : heads(rotary.heads),
        key_value_heads(rotary.key_value_heads),
        half(rotary.head_size / 2),
        length(rotary.length),
        positions(rotary.positions.empty() ? nullptr : rotary.positions.data()),
        table(elements<float>(rotary.table)) {}

  __device__ std::int64_t projected() const { return heads + 2 * key_value_heads; }
  __device__ std::int64_t group() const { return heads / key_value_heads; }
  __device__ std::int64_t vectors() const { return (half + kVector - 1) / kVector; }
  // A head of the projection is that of a value, which is not turned.
  __device__ bool is_value(std::int64_t head) const { return head >= heads + key_value_heads; }
  // The copies of a head of the projection in what attention reads follow one another.
  __device__ std::int64_t copies(std::int64_t head) const { return head < heads ? 1 : group(); }
  __device__ std::int64_t first_copy(std::int64_t head) const {
    return head < heads ? head : heads + (head - heads) * group();
  }
  __device__ const float* turns(std::int64_t row) const {
    return table + (positions == nullptr ? row % length : std::int64_t{positions[row]}) * 2 * half;
  }
};

struct Pairs {
  float low[kVector], high[kVector];
};

template <class T>
__device__ __forceinline__ Pairs load_pairs(const T* head, std::int64_t column, std::int64_t half) {
  Pairs pairs;
  load(head, column, half, pairs.low);
  load(head + half, column, half, pairs.high);
  return pairs;
}

template <class T>
__device__ __forceinline__ void store_pairs(T* head, std::int64_t column, std::int64_t half,
                                            const Pairs& pairs) {
  store(head, column, half, pairs.low);
  store(head + half, column, half, pairs.high);
}

// Forward where `direction` is 1, back where it is -1.
__device__ __forceinline__ void turn(const float* turns, std::int64_t column, std::int64_t half,
                                     float direction, Pairs& pairs) {
  const Pairs turned = load_pairs(turns, column, half);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float low = pairs.low[i], high = pairs.high[i];
    const float cosine = turned.low[i], sine = direction * turned.high[i];
    pairs.low[i] = low * cosine - high * sine;
    pairs.high[i] = high * cosine + low * sine;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) forward_kernel(Heads p, const T* x, T* y) {
  const std::int64_t row = blockIdx.x, size = 2 * p.half, vectors = p.vectors();
  x += row * p.projected() * size;
  y += row * 3 * p.heads * size;
  const float* const turns = p.turns(row);
  for (std::int64_t i = threadIdx.x; i < p.projected() * vectors; i += kThreads) {
    const std::int64_t head = i / vectors, column = i % vectors * kVector;
    Pairs pairs = load_pairs(x + head * size, column, p.half);
    if (!p.is_value(head)) turn(turns, column, p.half, 1.0F, pairs);
    T* const first = y + p.first_copy(head) * size;
    for (std::int64_t copy = 0; copy < p.copies(head); ++copy)
      store_pairs(first + copy * size, column, p.half, pairs);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) backward_kernel(Heads p, const T* dy, T* dx) {
  const std::int64_t row = blockIdx.x, size = 2 * p.half, vectors = p.vectors();
  dy += row * 3 * p.heads * size;
  dx += row * p.projected() * size;
  const float* const turns = p.turns(row);
  for (std::int64_t i = threadIdx.x; i < p.projected() * vectors; i += kThreads) {
    const std::int64_t head = i / vectors, column = i % vectors * kVector;
    const T* const first = dy + p.first_copy(head) * size;
    Pairs sum = load_pairs(first, column, p.half);
    for (std::int64_t copy = 1; copy < p.copies(head); ++copy) {
      const Pairs more = load_pairs(first + copy * size, column, p.half);
#pragma unroll
      for (int k = 0; k < kVector; ++k) {
        sum.low[k] += more.low[k];
        sum.high[k] += more.high[k];
      }
    }
    if (!p.is_value(head)) turn(turns, column, p.half, -1.0F, sum);
    store_pairs(dx + head * size, column, p.half, sum);
  }
}

}  // namespace

void rotary_heads_forward(Context& context, const RotaryHeads& rotary, ConstTensorView x, TensorView y) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "rotary_heads_forward", forward_kernel<T>, static_cast<unsigned>(x.shape[0]), kThreads, 0,
           Heads(rotary), elements<T>(x), elements<T>(y));
  });
}

void rotary_heads_backward(Context& context, const RotaryHeads& rotary, ConstTensorView dy, TensorView dx) {
  if (dx.size() == 0) return;
  with_device_type(dx.dtype, [&]<class T>(Type<T>) {
    launch(context, "rotary_heads_backward", backward_kernel<T>, static_cast<unsigned>(dx.shape[0]), kThreads,
           0, Heads(rotary), elements<T>(dy), elements<T>(dx));
  });
}

}  // namespace podium::ops::cuda
