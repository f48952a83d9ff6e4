#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/inference/plan.h"
#include "worker/ops/cuda/inference/sparse.h"
#include "worker/ops/cuda/inference/tile.cuh"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint32_t kFirstTwo = 4;  // of four inputs the first two are kept

struct Positions {
  const std::uint8_t* bytes;  // [out, in / 8]
  std::int64_t out, in;

  // Of an output's group of four inputs.
  __device__ std::uint32_t nibble(std::int64_t output, std::int64_t group) const {
    if (output >= out || 4 * group >= in) return kFirstTwo;
    return bytes[(output * in / 4 + group) / 2] >> (group % 2 * 4) & 15U;
  }
  // Of `count` groups, each `apart` from the one before.
  __device__ std::uint32_t nibbles(std::int64_t output, std::int64_t group, int apart, int count) const {
    std::uint32_t word = 0;
    for (int i = 0; i < count; ++i) word |= nibble(output, group + i * apart) << (4 * i);
    return word;
  }
};

// A thread makes one word.
template <class T>
__global__ void __launch_bounds__(kThreads)
    metadata_kernel(Positions positions, std::int64_t slabs, std::int64_t words, std::uint32_t* metadata) {
  constexpr int kWords = kMetadataWords<T> / 32;    // of a lane and slab
  constexpr int kGroups = sizeof(T) == 2 ? 8 : 16;  // of a step
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= words) return;
  const int lane = static_cast<int>(at % 32), word = static_cast<int>(at / 32 % kWords);
  const std::int64_t slab = at / 32 / kWords % slabs, sixteen = at / 32 / kWords / slabs;
  const std::int64_t group = slab * kSteps * kGroups, output = sixteen * 16 + lane / 4;
  const int upper = lane % 4 / 2, odd = lane % 2;
  if constexpr (sizeof(T) == 2) {  // the upper two lanes of each four: the next step's
    const std::int64_t begin = group + (2 * word + upper) * kGroups + odd * 4;
    metadata[at] = positions.nibbles(output, begin, 1, 4) | positions.nibbles(output + 8, begin, 1, 4) << 16;
  } else if constexpr (std::is_same_v<T, Float8E4M3>) {  // the upper two: the next product's
    const std::int64_t begin = group + word * kGroups + upper * 8 + odd;
    metadata[at] = positions.nibbles(output, begin, 2, 4) | positions.nibbles(output + 8, begin, 2, 4) << 16;
  } else {
    metadata[at] = positions.nibbles(output + 8 * odd, group + word * kGroups + upper * 8, 1, 8);
  }
}

// A thread writes one group of four inputs.
template <class T>
__global__ void __launch_bounds__(kThreads)
    expand_kernel(const T* kept, const std::uint8_t* positions, std::int64_t groups, T* dense) {
  const std::int64_t group = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (group >= groups) return;
  const int nibble = positions[group / 2] >> (group % 2 * 4);
  for (int i = 0; i < 4; ++i) {
    const bool is_first = i == (nibble & 3), is_second = i == (nibble >> 2 & 3);
    dense[4 * group + i] = is_first ? kept[2 * group] : is_second ? kept[2 * group + 1] : T{0};
  }
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

std::int64_t slabs_of(const InferenceWeight& weight) {
  return (static_cast<std::int64_t>(size_of(weight.values.dtype)) * weight.values.shape[1] + kPanelBytes -
          1) /
         kPanelBytes;
}

std::int64_t metadata_words(const InferenceWeight& weight) {
  const std::int64_t largest = kTileSizes[kTiles - 1].out;
  const std::int64_t sixteens = (weight.out() + largest - 1) / largest * (largest / 16);
  return sixteens * slabs_of(weight) *
         (size_of(weight.values.dtype) == 2 ? kMetadataWords<__half> : kMetadataWords<std::int8_t>);
}

}  // namespace

std::size_t metadata_bytes(const InferenceWeight& weight) {
  return static_cast<std::size_t>(metadata_words(weight)) * sizeof(std::uint32_t);
}

void order_metadata(Context& context, const InferenceWeight& weight, void* metadata) {
  const std::int64_t words = metadata_words(weight);
  const Positions positions{elements<std::uint8_t>(weight.positions), weight.out(), weight.in()};
  const auto kernel = weight.values.dtype == DType::i8     ? metadata_kernel<std::int8_t>
                      : weight.values.dtype == DType::e4m3 ? metadata_kernel<Float8E4M3>
                                                           : metadata_kernel<__half>;
  launch(context, "ordering a sparse weight's metadata", kernel, blocks_for(words), kThreads, 0, positions,
         slabs_of(weight), words, static_cast<std::uint32_t*>(metadata));
}

void expand(Context& context, const InferenceWeight& weight, void* dense) {
  const std::int64_t groups = weight.out() * weight.in() / 4;
  const auto start = [&]<class Bits>(Bits) {
    launch(context, "expanding a sparse weight", expand_kernel<Bits>, blocks_for(groups), kThreads, 0,
           elements<Bits>(weight.values), elements<std::uint8_t>(weight.positions), groups,
           static_cast<Bits*>(dense));
  };
  switch (size_of(weight.values.dtype)) {
    case 1:
      return start(std::uint8_t{});
    case 2:
      return start(std::uint16_t{});
    default:
      return start(std::uint32_t{});
  }
}

}  // namespace podium::ops::cuda
