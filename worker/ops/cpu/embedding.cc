#include "worker/ops/embedding.h"

#include <algorithm>

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

// Where a table's rows begin, and the row that stands in for those it does not have.
template <class F>
class Rows {
 public:
  template <class View>
  Rows(const View& table, std::int64_t hidden, F* stand_in)
      : begin_(table.address == nullptr ? nullptr : table.template data<float>()),
        count_(begin_ == nullptr ? 0 : table.shape[0]),
        hidden_(hidden),
        stand_in_(stand_in) {}

  F* operator[](std::int64_t row) const {
    return row >= 0 && row < count_ ? begin_ + row * hidden_ : stand_in_;
  }

 private:
  F* begin_;
  std::int64_t count_;
  std::int64_t hidden_;
  F* stand_in_;
};

// The row of each table that token t asks for.
struct TokenRows {
  TokenRows(const EmbeddingInput& input, std::int64_t t)
      : word(input.ids[static_cast<std::size_t>(t)] - input.first_id),
        position(!input.positions.empty() ? input.positions[static_cast<std::size_t>(t)]
                 : input.length > 0       ? t % input.length
                                          : 0),
        type(input.types.empty() ? 0 : input.types[static_cast<std::size_t>(t)]) {}
  std::int64_t word, position, type;
};

float* zero_row(Context& context, std::int64_t hidden) {
  float* const row = context.scratch.allocate(DType::f32, Shape{hidden}).data<float>();
  std::fill_n(row, hidden, 0.0F);
  return row;
}

}  // namespace

void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                       TensorView y) {
  const ArenaScope scope(context.scratch);
  const std::int64_t hidden = y.shape[1];
  const float* const zeros = zero_row(context, hidden);
  const Rows<const float> word(tables.word, hidden, zeros), position(tables.position, hidden, zeros),
      type(tables.type, hidden, zeros);
  with_float_type(y.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, y.shape[0], 1, [&](Range range, int) {
      for (std::int64_t t = range.begin; t < range.end; ++t) {
        const TokenRows row(input, t);
        add_three(word[row.word], position[row.position], type[row.type], hidden, y.data<T>() + t * hidden);
      }
    });
  });
}

// Threads share out the columns, not the tokens, so that no two of them touch one element.
void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                        const EmbeddingGradients& gradients) {
  const ArenaScope scope(context.scratch);
  const std::int64_t hidden = dy.shape[1];
  float* const sink = zero_row(context, hidden);  // takes what belongs to no row here
  const Rows<float> word(gradients.word, hidden, sink), position(gradients.position, hidden, sink),
      type(gradients.type, hidden, sink);
  with_float_type(dy.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, hidden, kAlignment / sizeof(T), [&](Range range, int) {
      for (std::int64_t t = 0; t < dy.shape[0]; ++t) {
        const TokenRows row(input, t);
        add_to_three(dy.data<T>() + t * hidden + range.begin, range.end - range.begin,
                     word[row.word] + range.begin, position[row.position] + range.begin,
                     type[row.type] + range.begin);
      }
    });
  });
}

}  // namespace podium::ops::cpu
