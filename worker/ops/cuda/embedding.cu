// y[t] = word[id[t]] + position[p[t]] + type[type[t]], y [tokens, hidden]; tables f32. Backward adds the
// tokens of one table row in their order, without atomics: the same bits in every run.
#include "common/base/check.h"
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/embedding.h"

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

// The tokens in the order of the rows that they ask for.
struct SortedTokens {
  const std::int32_t* order = nullptr;  // null: token t asks for row t mod length
  std::int64_t tokens = 0;
  std::int64_t length = 1;

  __device__ std::int64_t operator()(std::int64_t i) const {
    if (order != nullptr) return order[i];
    const std::int64_t each = tokens / length, more = tokens % length;  // the first rows have one token more
    const std::int64_t split = more * (each + 1);
    if (i < split) return i / (each + 1) + i % (each + 1) * length;
    return more + (i - split) / each + (i - split) % each * length;
  }
};

// What backward goes through: tokens of one row lie side by side, and are added up in parts that end at
// multiples of kTogether, so that the bits do not depend on the device.
constexpr std::int64_t kTogether = 64;

template <class T>
struct Backward {
  const T* dy;
  TableRows rows;
  SortedTokens sorted;
  std::int64_t hidden;
  float* gradient;
  float* partials;  // [2 * parts, hidden]: of a part that begins where the one before ends, and of one that
                    // begins behind it

  __device__ std::int64_t row(std::int64_t i) const { return rows(sorted(i)); }
};

// The first of the sorted tokens from i on that asks for another row, or `limit`; all lanes ask together.
template <class T>
__device__ __forceinline__ std::int64_t end_of_row(const Backward<T>& p, std::int64_t i, std::int64_t limit,
                                                   std::int64_t row) {
  for (; i < limit; i += 32) {
    const std::int64_t at = i + threadIdx.x % 32;
    const unsigned others = __ballot_sync(kAllLanes, at >= limit || p.row(at) != row);
    if (others != 0) return min(limit, i + __ffs(others) - 1);
  }
  return limit;
}

// Of the sorted tokens [begin, end). Some loads are under way at a time.
template <class T>
__device__ __forceinline__ void add_tokens(const Backward<T>& p, std::int64_t begin, std::int64_t end,
                                           std::int64_t column, float (&sum)[kVector]) {
  constexpr int kAhead = 4;
  for (std::int64_t i = begin; i < end; i += kAhead) {
    float values[kAhead][kVector] = {};
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (i + k < end) load(p.dy + p.sorted(i + k) * p.hidden, column, p.hidden, values[k]);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
#pragma unroll
      for (int j = 0; j < kVector; ++j) sum[j] += values[k][j];
    }
  }
}

template <class T>
__device__ __forceinline__ void add_to_row(const Backward<T>& p, std::int64_t row, std::int64_t column,
                                           const float (&sum)[kVector]) {
  float values[kVector];
  load(p.gradient + row * p.hidden, column, p.hidden, values);
#pragma unroll
  for (int j = 0; j < kVector; ++j) values[j] += sum[j];
  store(p.gradient + row * p.hidden, column, p.hidden, values);
}

// A warp takes one of the sorted tokens and, where a part begins with it, adds up a chunk of the part's
// gradients. What is not all of a row waits for the parts behind.
template <class T>
__global__ void __launch_bounds__(kThreads) backward_kernel(Backward<T> p) {
  const std::int64_t begin = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32, tokens = p.sorted.tokens;
  if (begin >= tokens) return;
  const std::int64_t row = p.row(begin);
  const bool is_first = begin == 0 || p.row(begin - 1) != row;
  if (row < 0 || (!is_first && begin % kTogether != 0)) return;
  const std::int64_t limit = min(tokens, (begin / kTogether + 1) * kTogether);
  const std::int64_t end = end_of_row(p, begin, limit, row);
  const std::int64_t column = blockIdx.y * kChunk + threadIdx.x % 32 * kVector;
  float sum[kVector] = {};
  add_tokens(p, begin, end, column, sum);
  if (is_first && (end == tokens || p.row(end) != row)) return add_to_row(p, row, column, sum);
  const std::int64_t part = 2 * (begin / kTogether) + (begin % kTogether != 0 ? 1 : 0);
  store(p.partials + part * p.hidden, column, p.hidden, sum);
}

// A warp takes a multiple of kTogether and, where a row's first part ends there that others follow, adds a
// chunk of them up.
template <class T>
__global__ void __launch_bounds__(kThreads) add_parts_kernel(Backward<T> p) {
  const std::int64_t group = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  const std::int64_t begin = group * kTogether, end = begin + kTogether;
  if (end >= p.sorted.tokens) return;
  const std::int64_t row = p.row(end - 1);
  if (row < 0 || p.row(end) != row) return;
  const bool is_whole = p.row(begin) == row;
  if (is_whole && begin > 0 && p.row(begin - 1) == row) return;
  const std::int64_t column = blockIdx.y * kChunk + threadIdx.x % 32 * kVector;
  float sum[kVector], values[kVector];
  load(p.partials + (2 * group + (is_whole ? 0 : 1)) * p.hidden, column, p.hidden, sum);
  for (std::int64_t next = group + 1; next * kTogether < p.sorted.tokens && p.row(next * kTogether) == row;
       ++next) {
    load(p.partials + 2 * next * p.hidden, column, p.hidden, values);
#pragma unroll
    for (int j = 0; j < kVector; ++j) sum[j] += values[j];
  }
  add_to_row(p, row, column, sum);
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

void add_to_table(Context& context, ConstTensorView dy, const TableRows& rows,
                  std::span<const std::int32_t> order, const TensorView& gradient) {
  if (rows.count == 0 || dy.size() == 0) return;
  const std::int64_t tokens = dy.shape[0], hidden = dy.shape[1],
                     groups = (tokens + kTogether - 1) / kTogether;
  PODIUM_CHECK(rows.rows == nullptr || static_cast<std::int64_t>(order.size()) == tokens,
               "backward of embeddings on a device goes by the tokens' order");
  auto* const partials = static_cast<float*>(
      cuda_state(context).scratch(static_cast<std::size_t>(2 * groups * hidden) * sizeof(float)));
  const SortedTokens sorted{rows.rows == nullptr ? nullptr : order.data(), tokens, rows.length};
  const auto grid = [&](std::int64_t warps) {
    return dim3(static_cast<unsigned>((warps + kWarps - 1) / kWarps),
                static_cast<unsigned>((hidden + kChunk - 1) / kChunk));
  };
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    const Backward<T> p{elements<T>(dy), rows, sorted, hidden, elements<float>(gradient), partials};
    launch(context, "embedding_backward", backward_kernel<T>, grid(tokens), kThreads, 0, p);
    launch(context, "embedding_backward_parts", add_parts_kernel<T>, grid(groups), kThreads, 0, p);
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
  add_to_table(context, dy, word_rows(input, gradients.word), input.id_order, gradients.word);
  add_to_table(context, dy, position_rows(input, gradients.position), input.position_order,
               gradients.position);
  // A type has too many tokens for one warp.
  const TableRows types = type_rows(input, gradients.type);
  for (std::int64_t type = 0; type < types.count; ++type)
    add_column_sums(context, dy, {types.rows, static_cast<std::int32_t>(type)},
                    {elements<float>(gradients.type) + type * dy.shape[1], DType::f32, Shape{dy.shape[1]}});
}

}  // namespace podium::ops::cuda
