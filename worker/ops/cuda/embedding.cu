// y[t] = word[id[t]] + position[p[t]] + type[type[t]], y [tokens, hidden]; tables f32. Backward adds the
// tokens of one table row in their order, without atomics: the same bits in every run.
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/embedding.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kWarps = 4;
constexpr unsigned kThreads = 32 * kWarps;
constexpr std::int64_t kChunk = 32 * kVector;  // columns of a warp

// The row of one table that each token asks for; a row beyond the table is no row.
struct TableRows {
  const std::int32_t* rows = nullptr;  // [tokens]; null: token t asks for row t mod length
  std::int64_t length = 1;
  std::int64_t first = 0;
  std::int64_t count = 0;  // rows of the table

  __device__ std::int64_t operator()(std::int64_t token) const {
    const std::int64_t row = rows == nullptr ? token % length : rows[token] - first;
    return row >= 0 && row < count ? row : -1;
  }
};

struct Table {
  const float* values;
  TableRows rows;
};

__device__ __forceinline__ void add_row(const Table& table, std::int64_t token, std::int64_t column,
                                        std::int64_t hidden, float (&sum)[kVector]) {
  const std::int64_t row = table.rows(token);
  if (row < 0) return;
  float values[kVector];
  load(table.values + row * hidden, column, hidden, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) sum[i] += values[i];
}

// A block computes a token.
template <class T>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(Table word, Table position, Table type, std::int64_t hidden, T* y) {
  const std::int64_t token = blockIdx.x;
  for (std::int64_t column = threadIdx.x * kVector; column < hidden; column += kThreads * kVector) {
    float sum[kVector] = {};
    add_row(word, token, column, hidden, sum);
    add_row(position, token, column, hidden, sum);
    add_row(type, token, column, hidden, sum);
    store(y + token * hidden, column, hidden, sum);
  }
}

// Whether a token before this one asks for the same row; all lanes of the warp ask together.
__device__ __forceinline__ bool asked_before(const TableRows& rows, std::int64_t token, std::int64_t row) {
  for (std::int64_t first = 0; first < token; first += 32) {
    const std::int64_t other = first + threadIdx.x % 32;
    if (__any_sync(kAllLanes, other < token && rows(other) == row)) return true;
  }
  return false;
}

// Adds the gradients of the first kAhead tokens of `asking`, numbered from dy's first row, and takes them
// out. Some loads are under way at a time, for a frequent token ([MASK], [PAD]) keeps one warp waiting for
// each.
template <class T>
__device__ __forceinline__ void add_asking(const T* dy, std::int64_t column, std::int64_t hidden,
                                           unsigned& asking, float (&sum)[kVector]) {
  constexpr int kAhead = 4;
  float values[kAhead][kVector] = {};
#pragma unroll
  for (int k = 0; k < kAhead; ++k) {
    if (asking != 0) load(dy + (__ffs(asking) - 1) * hidden, column, hidden, values[k]);
    asking &= asking - 1;
  }
#pragma unroll
  for (int k = 0; k < kAhead; ++k) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum[i] += values[k][i];
  }
}

// A warp takes one token and, where that is the first to ask for its row, a chunk of the gradients of all
// that do.
template <class T>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const T* dy, TableRows rows, std::int64_t tokens, std::int64_t hidden, float* gradient) {
  const std::int64_t token = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (token >= tokens) return;
  const std::int64_t row = rows(token);
  if (row < 0 || asked_before(rows, token, row)) return;
  const std::int64_t lane = threadIdx.x % 32, column = blockIdx.y * kChunk + lane * kVector;
  float sum[kVector];
  load(gradient + row * hidden, column, hidden, sum);
  for (std::int64_t first = token; first < tokens; first += 32) {
    const std::int64_t other = first + lane;
    unsigned asking = __ballot_sync(kAllLanes, other < tokens && rows(other) == row);
    while (asking != 0) add_asking(dy + first * hidden, column, hidden, asking, sum);
  }
  store(gradient + row * hidden, column, hidden, sum);
}

template <class View>
std::int64_t rows_of(const View& table) {
  return table.address == nullptr ? 0 : table.shape[0];
}

template <class View>
TableRows word_rows(const EmbeddingInput& input, const View& table) {
  return {input.ids.data(), 1, input.first_id, rows_of(table)};
}
template <class View>
TableRows position_rows(const EmbeddingInput& input, const View& table) {
  const std::int32_t* const positions = input.positions.empty() ? nullptr : input.positions.data();
  return {positions, input.length > 0 ? input.length : 1, 0, rows_of(table)};
}
template <class View>
TableRows type_rows(const EmbeddingInput& input, const View& table) {
  return {input.types.empty() ? nullptr : input.types.data(), 1, 0, rows_of(table)};
}

void add_to_table(Context& context, ConstTensorView dy, const TableRows& rows, const TensorView& gradient) {
  if (rows.count == 0 || dy.size() == 0) return;
  const std::int64_t tokens = dy.shape[0], hidden = dy.shape[1];
  const dim3 grid(static_cast<unsigned>((tokens + kWarps - 1) / kWarps),
                  static_cast<unsigned>((hidden + kChunk - 1) / kChunk));
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    launch(context, "embedding_backward", backward_kernel<T>, grid, kThreads, 0, elements<T>(dy), rows,
           tokens, hidden, elements<float>(gradient));
  });
}

}  // namespace

void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                       TensorView y) {
  if (y.size() == 0) return;
  const Table word{elements<float>(tables.word), word_rows(input, tables.word)};
  const Table position{elements<float>(tables.position), position_rows(input, tables.position)};
  const Table type{elements<float>(tables.type), type_rows(input, tables.type)};
  with_device_type(y.dtype, [&]<class T>(Type<T>) {
    launch(context, "embedding_forward", forward_kernel<T>, static_cast<unsigned>(y.shape[0]), kThreads, 0,
           word, position, type, y.shape[1], elements<T>(y));
  });
}

void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                        const EmbeddingGradients& gradients) {
  add_to_table(context, dy, word_rows(input, gradients.word), gradients.word);
  add_to_table(context, dy, position_rows(input, gradients.position), gradients.position);
  // A type has too many tokens for one warp.
  const TableRows types = type_rows(input, gradients.type);
  for (std::int64_t type = 0; type < types.count; ++type)
    add_column_sums(context, dy, {types.rows, static_cast<std::int32_t>(type)},
                    {elements<float>(gradients.type) + type * dy.shape[1], DType::f32, Shape{dy.shape[1]}});
}

}  // namespace podium::ops::cuda
