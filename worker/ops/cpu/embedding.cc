#include "worker/ops/cpu/embedding.h"

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void add_three(const float* a, const float* b, const float* c, std::int64_t count, T* y) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) y[j] = from_float<T>(a[j] + b[j] + c[j]);
}

template <class T>
PODIUM_SIMD_CLONES void add_to_three(const T* x, std::int64_t count, float* a, float* b, float* c) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    const float value = to_float(x[j]);
    a[j] += value;
    b[j] += value;
    c[j] += value;
  }
}

// Where token t's rows begin in the three tables.
struct RowOffsets {
  RowOffsets(const EmbeddingInput& input, std::int64_t t, std::int64_t hidden)
      : word(input.ids[static_cast<std::size_t>(t)] * hidden),
        position(t % input.length * hidden),
        type(input.types[static_cast<std::size_t>(t)] * hidden) {}
  std::int64_t word, position, type;
};

}  // namespace

void embedding_forward(Context& context, const EmbeddingInput& input, ConstTensorView word,
                       ConstTensorView position, ConstTensorView type, TensorView y) {
  const std::int64_t hidden = y.shape[1];
  with_float_type(y.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, y.shape[0], 1, [&](Range range, int) {
      for (std::int64_t t = range.begin; t < range.end; ++t) {
        const RowOffsets at(input, t, hidden);
        add_three(word.data<float>() + at.word, position.data<float>() + at.position,
                  type.data<float>() + at.type, hidden, y.data<T>() + t * hidden);
      }
    });
  });
}

// Threads share out the columns, not the tokens, so that no two of them touch one element.
void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy, TensorView dword,
                        TensorView dposition, TensorView dtype) {
  const std::int64_t hidden = dy.shape[1];
  with_float_type(dy.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, hidden, kAlignment / sizeof(T), [&](Range range, int) {
      for (std::int64_t t = 0; t < dy.shape[0]; ++t) {
        const RowOffsets at(input, t, hidden);
        add_to_three(dy.data<T>() + t * hidden + range.begin, range.end - range.begin,
                     dword.data<float>() + at.word + range.begin,
                     dposition.data<float>() + at.position + range.begin,
                     dtype.data<float>() + at.type + range.begin);
      }
    });
  });
}

}  // namespace podium::ops::cpu
