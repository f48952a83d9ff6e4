// The emulated tensor-core products against plain ones, through the fragments as the PTX manual lays them
// out.
#include "worker/ops/cuda/mma.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "worker/ops/cuda/inference/sparse_mma.cuh"
#include "worker/ops/cuda/ldmatrix.cuh"
#include "worker/tensor/random.h"

namespace podium::ops::cuda {
namespace {

constexpr int kM = 16, kN = 8;

template <class T>
struct MmaCase;  // what the host calls T, and the product's depth
template <>
struct MmaCase<__nv_bfloat16> {
  using Host = BFloat16;
};
template <>
struct MmaCase<__half> {
  using Host = Float16;
};
template <>
struct MmaCase<std::int8_t> {
  using Host = std::int8_t;
};
template <class T>
constexpr int kDepth = 32 / sizeof(T);

// Elements (row, column) onwards of a matrix whose rows have `columns`, as many as a register holds.
template <class T>
std::uint32_t word_of(const T* matrix, int columns, int row, int column) {
  std::uint32_t word = 0;
  std::memcpy(&word, matrix + row * columns + column, sizeof(word));
  return word;
}

template <class T>
MmaSumsOf<MmaSum<T>> load_sums(const MmaSum<T>* d) {
  const int g = static_cast<int>(threadIdx.x) / 4, p = static_cast<int>(threadIdx.x) % 4 * 2;
  return {{d[g * kN + p], d[g * kN + p + 1], d[(g + 8) * kN + p], d[(g + 8) * kN + p + 1]}};
}

template <class T>
void store_sums(const MmaSumsOf<MmaSum<T>>& sums, MmaSum<T>* d) {
  const int g = static_cast<int>(threadIdx.x) / 4, p = static_cast<int>(threadIdx.x) % 4 * 2;
  for (int e = 0; e < 4; ++e) d[(g + e / 2 * 8) * kN + p + e % 2] = sums.values[e];
}

template <class T>
MmaA load_left(const T* a) {  // [16, depth]
  constexpr int kDeep = kDepth<T>, kWord = 4 / sizeof(T);
  const int g = static_cast<int>(threadIdx.x) / 4, p = static_cast<int>(threadIdx.x) % 4 * kWord;
  return {{word_of(a, kDeep, g, p), word_of(a, kDeep, g + 8, p), word_of(a, kDeep, g, p + kDeep / 2),
           word_of(a, kDeep, g + 8, p + kDeep / 2)}};
}

// a [16, depth], columns [8, depth]: those of b; d [16, 8]
template <class T>
__global__ void multiply(const T* a, const T* columns, MmaSum<T>* d) {
  constexpr int kDeep = kDepth<T>, kWord = 4 / sizeof(T);
  const int g = static_cast<int>(threadIdx.x) / 4, p = static_cast<int>(threadIdx.x) % 4 * kWord;
  auto sums = load_sums<T>(d);
  mma<T>(load_left(a), {word_of(columns, kDeep, g, p), word_of(columns, kDeep, g, p + kDeep / 2)}, sums);
  store_sums<T>(sums, d);
}

// kept [16, depth], metadata [32], columns [8, 2 depth], d [16, 8]
template <class T>
__global__ void multiply_sparse(const T* kept, const std::uint32_t* metadata, const T* columns,
                                MmaSum<T>* d) {
  constexpr int kDeep = kDepth<T>, kWord = 4 / sizeof(T);
  const int g = static_cast<int>(threadIdx.x) / 4, p = static_cast<int>(threadIdx.x) % 4 * kWord;
  auto sums = load_sums<T>(d);
  MmaSparseB b;
  for (int i = 0; i < 4; ++i) b.words[i] = word_of(columns, 2 * kDeep, g, p + i * kDeep / 2);
  mma_sparse<T>(load_left(kept), b, metadata[threadIdx.x], sums);
  store_sums<T>(sums, d);
}

template <class T>
T element(int value) {  // small enough that every product and sum is exact
  const auto stored = [&] {
    if constexpr (std::is_same_v<T, std::int8_t>) {
      return static_cast<std::int8_t>(value);
    } else {
      return from_float<typename MmaCase<T>::Host>(static_cast<float>(value));
    }
  }();
  return std::bit_cast<T>(stored);
}

struct Numbers {
  std::vector<int> values;
  int at(int i) const { return values[static_cast<std::size_t>(i)]; }

  template <class T>
  std::vector<T> as() const {
    std::vector<T> elements;
    for (const int value : values) elements.push_back(element<T>(value));
    return elements;
  }
};

Numbers draw(Random& random, int count) {
  Numbers numbers;
  while (count-- > 0) numbers.values.push_back(static_cast<int>(random.below(17)) - 8);
  return numbers;
}

template <class T>
void add_products(const Numbers& a, const Numbers& columns, int depth, std::vector<MmaSum<T>>& d) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j)
      for (int k = 0; k < depth; ++k)
        d[static_cast<std::size_t>(i * kN + j)] +=
            static_cast<MmaSum<T>>(a.at(i * depth + k) * columns.at(j * depth + k));
}

template <class T>
void check() {
  Random random(1, 2);
  const Numbers a = draw(random, kM * kDepth<T>), columns = draw(random, kN * kDepth<T>);
  const Numbers begin = draw(random, kM * kN);
  std::vector<MmaSum<T>> d(begin.values.begin(), begin.values.end()), expected = d;
  add_products<T>(a, columns, kDepth<T>, expected);
  const cudaLaunchConfig_t config{1, 32, 0, nullptr, nullptr, 0};
  ASSERT_EQ(cudaLaunchKernelEx(&config, multiply<T>, a.as<T>().data(), columns.as<T>().data(), d.data()),
            cudaSuccess);
  EXPECT_EQ(d, expected);
}

// A 2:4 matrix, its kept elements and where they stand.
struct SparseNumbers {
  Numbers dense, kept;
  std::vector<std::uint32_t> nibbles;  // of each four columns
};

SparseNumbers draw_sparse(Random& random, int count) {
  SparseNumbers m;
  for (int group = 0; group < count / 4; ++group) {
    const std::uint32_t first = random.below(3), second = first + 1 + random.below(3 - first);
    const Numbers two = draw(random, 2);
    m.kept.values.insert(m.kept.values.end(), two.values.begin(), two.values.end());
    m.dense.values.resize(static_cast<std::size_t>(4 * group + 4));
    m.dense.values[4 * static_cast<std::size_t>(group) + first] = two.at(0);
    m.dense.values[4 * static_cast<std::size_t>(group) + second] = two.at(1);
    m.nibbles.push_back(first | second << 2);
  }
  return m;
}

// As the PTX manual's tables say which lane holds the bits of which row and columns.
template <class T>
std::vector<std::uint32_t> metadata_of(const SparseNumbers& m) {
  std::vector<std::uint32_t> words(32);
  const int groups = 2 * kDepth<T> / 4;
  for (int row = 0; row < kM; ++row) {
    for (int group = 0; group < groups; ++group) {
      const std::uint32_t nibble = m.nibbles[static_cast<std::size_t>(row * groups + group)];
      const int g = row % 8, upper = row / 8;
      const int lane = sizeof(T) == 2 ? 4 * g + group / 4 : 4 * g + upper + 2 * (group / 8);
      const int bit = sizeof(T) == 2 ? 16 * upper + 4 * (group % 4) : 4 * (group % 8);
      words[static_cast<std::size_t>(lane)] |= nibble << bit;
    }
  }
  return words;
}

template <class T>
void check_sparse() {
  Random random(3, 4);
  const int depth = 2 * kDepth<T>;
  const SparseNumbers a = draw_sparse(random, kM * depth);
  const Numbers columns = draw(random, kN * depth), begin = draw(random, kM * kN);
  std::vector<MmaSum<T>> d(begin.values.begin(), begin.values.end()), expected = d;
  add_products<T>(a.dense, columns, depth, expected);
  const cudaLaunchConfig_t config{1, 32, 0, nullptr, nullptr, 0};
  ASSERT_EQ(cudaLaunchKernelEx(&config, multiply_sparse<T>, a.kept.as<T>().data(), metadata_of<T>(a).data(),
                               columns.as<T>().data(), d.data()),
            cudaSuccess);
  EXPECT_EQ(d, expected);
}

// Every lane hands in a row of `matrices` [4, 8, 8] and hands on what it receives, `words` [32, 4].
__global__ void load_four(const std::uint16_t* matrices, bool transposed, std::uint32_t* words) {
  __shared__ __align__(16) std::uint16_t rows[4 * 8 * 8];
  for (unsigned i = threadIdx.x; i < 4 * 8 * 8; i += 32) rows[i] = matrices[i];
  __syncwarp();
  std::uint32_t received[4];
  if (transposed) {
    load_matrices_transposed(rows + 8 * threadIdx.x, received);
  } else {
    load_matrices(rows + 8 * threadIdx.x, received);
  }
  for (int m = 0; m < 4; ++m) words[4 * threadIdx.x + m] = received[m];
}

TEST(Ldmatrix, HandsOutElementsAsThePtxManualSays) {
  std::vector<std::uint16_t> matrices(4 * 8 * 8);
  std::iota(matrices.begin(), matrices.end(), std::uint16_t{0});
  const auto element = [](unsigned m, unsigned row, unsigned column) { return 64 * m + 8 * row + column; };
  for (const bool transposed : {false, true}) {
    std::vector<std::uint32_t> words(32 * 4);
    const cudaLaunchConfig_t config{1, 32, 0, nullptr, nullptr, 0};
    ASSERT_EQ(cudaLaunchKernelEx(&config, load_four, matrices.data(), transposed, words.data()), cudaSuccess);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned m = 0; m < 4; ++m) {
        const unsigned g = lane / 4, p = lane % 4 * 2;
        const unsigned low = transposed ? element(m, p, g) : element(m, g, p);
        const unsigned high = transposed ? element(m, p + 1, g) : element(m, g, p + 1);
        EXPECT_EQ(words[4 * lane + m], high << 16 | low) << "lane " << lane << ", matrix " << m;
      }
    }
  }
}

TEST(Mma, MultipliesBfloat16) { check<__nv_bfloat16>(); }
TEST(Mma, MultipliesHalf) { check<__half>(); }
TEST(Mma, MultipliesInt8) { check<std::int8_t>(); }

TEST(SparseMma, MultipliesBfloat16) { check_sparse<__nv_bfloat16>(); }
TEST(SparseMma, MultipliesHalf) { check_sparse<__half>(); }
TEST(SparseMma, MultipliesInt8) { check_sparse<std::int8_t>(); }

TEST(SparseMma, RefusesPositionsThatDoNotAscend) {
  const std::vector<__half> kept(16 * 16), columns(8 * 32);
  const std::vector<std::uint32_t> metadata(32);  // both of each four in the first place
  std::vector<float> d(kM * kN);
  const cudaLaunchConfig_t config{1, 32, 0, nullptr, nullptr, 0};
  EXPECT_THROW(cudaLaunchKernelEx(&config, multiply_sparse<__half>, kept.data(), metadata.data(),
                                  columns.data(), d.data()),
               shim::KernelError);
}

}  // namespace
}  // namespace podium::ops::cuda
