#include "worker/ops/cpu/panel_attention.h"

#include <algorithm>
#include <cmath>

#include "worker/ops/cpu/claims.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/panel_product.h"
#include "worker/ops/cpu/product_epilogue.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

std::int64_t panels_of(std::int64_t outputs) { return (outputs + kPanelOutputs - 1) / kPanelOutputs; }

// `to` = e^((scores - the highest) * scale) of the visible ones, and 0 from there up to `count`; their sum.
template <class T>
PODIUM_SIMD_CLONES float exponentials(const float* scores, std::int64_t visible, std::int64_t count,
                                      float scale, T* to) {
  float highest = scores[0];
#pragma omp simd reduction(max : highest)
  for (std::int64_t j = 0; j < visible; ++j) highest = scores[j] > highest ? scores[j] : highest;
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < visible; ++j) {
    const float e = fast_exp((scores[j] - highest) * scale);
    sum += e;
    to[j] = from_float<T>(e);
  }
#pragma omp simd
  for (std::int64_t j = visible; j < count; ++j) to[j] = T{};
  return sum;
}

PODIUM_SIMD_CLONES void divide_row(float* values, float divisor) {
  const float inverse = 1.0F / divisor;
#pragma omp simd
  for (std::int64_t j = 0; j < kPanelOutputs; ++j) values[j] *= inverse;
}

// One head of one sequence, and which of its queries to compute.
struct HeadTask {
  std::int64_t first_row = 0, rows = 0;  // of the sequence
  std::int64_t valid = 0;                // keys
  std::int64_t column = 0;               // of the hidden ones
  Range queries;
};

// All heads, in parts of their queries where there are fewer of them than threads want.
class HeadTasks {
 public:
  HeadTasks(const AttentionShape& shape, std::span<const std::int32_t> valid_lengths, int threads)
      : shape_(shape), valid_lengths_(valid_lengths) {
    const std::int64_t heads = std::max<std::int64_t>(1, shape.sequences * shape.heads);
    parts_ = (kPerThread * threads + heads - 1) / heads;
  }

  std::int64_t count() const { return shape_.sequences * shape_.heads * parts_; }
  HeadTask operator[](std::int64_t i) const {
    const std::int64_t head = i / parts_ % shape_.heads;
    const auto sequence = static_cast<std::size_t>(i / parts_ / shape_.heads);
    HeadTask task{.column = head * shape_.head_size};
    if (shape_.row_begins.empty()) {
      task.first_row = static_cast<std::int64_t>(sequence) * shape_.length;
      task.rows = shape_.length;
    } else {
      task.first_row = shape_.row_begins[sequence];
      task.rows = shape_.row_begins[sequence + 1] - task.first_row;
    }
    task.valid = valid_lengths_.empty() ? task.rows : valid_lengths_[sequence];
    task.queries = part_of(task.rows, kTileRows, i % parts_, parts_);
    return task;
  }

 private:
  static constexpr std::int64_t kPerThread = 2;

  const AttentionShape& shape_;
  std::span<const std::int32_t> valid_lengths_;
  std::int64_t parts_ = 1;
};

// One thread's panels and temporaries.
template <class T>
class HeadWorker {
 public:
  HeadWorker(Context& context, const AttentionShape& shape, ConstTensorView qkv)
      : shape_(shape),
        qkv_(static_cast<const std::byte*>(qkv.address)),
        most_keys_(panels_of(shape.length) * kPanelOutputs) {
    const auto bytes = [&](std::int64_t count) {
      return static_cast<std::byte*>(context.scratch.allocate_bytes(static_cast<std::size_t>(count)));
    };
    keys_ = bytes(panels_of(shape.length) * panel_bytes(kType, shape.head_size));
    values_ = bytes(panels_of(shape.head_size) * panel_bytes(kType, shape.length));
    const Shape block{kTileRows, most_keys_};
    scores_ = context.scratch.allocate(DType::f32, block).template data<float>();
    weights_ = context.scratch.allocate(kType, block).template data<T>();
  }

  void compute(const HeadTask& task, float out_scale, TensorView out) {
    if (task.queries.begin == task.queries.end) return;
    pack(task);
    for (std::int64_t query = task.queries.begin; query < task.queries.end; query += kTileRows) {
      const std::int64_t rows = std::min<std::int64_t>(kTileRows, task.queries.end - query);
      const std::int64_t keys = shape_.causal ? std::min(task.valid, query + rows) : task.valid;
      weigh_keys(task, query, rows, keys);
      weigh_values(task, query, rows, keys, out_scale, out);
    }
  }

 private:
  static constexpr DType kType = dtype_of<T>;
  static constexpr std::int64_t kSize = sizeof(T);

  // From a row of the sequence on, a third of qkv: 0 queries, 1 keys, 2 values.
  MatrixRows part(const HeadTask& task, std::int64_t row, std::int64_t third) const {
    const std::int64_t wide = 3 * shape_.hidden();
    return {qkv_ + ((task.first_row + row) * wide + third * shape_.hidden() + task.column) * kSize,
            wide * kSize};
  }

  void pack(const HeadTask& task) {
    const std::int64_t d = shape_.head_size;
    for (std::int64_t key = 0; key < task.valid; key += kPanelOutputs)
      pack_panel(kType, part(task, key, 1), std::min(kPanelOutputs, task.valid - key), d, key_panel(key));
    for (std::int64_t column = 0; column < d; column += kPanelOutputs) {
      MatrixRows values = part(task, 0, 2);
      values.begin += column * kSize;
      pack_transposed_panel(kType, values, std::min(kPanelOutputs, d - column), task.valid,
                            value_panel(column));
    }
  }
  std::byte* key_panel(std::int64_t key) const {
    return keys_ + key / kPanelOutputs * panel_bytes(kType, shape_.head_size);
  }
  std::byte* value_panel(std::int64_t column) const {
    return values_ + column / kPanelOutputs * panel_bytes(kType, shape_.length);
  }

  void weigh_keys(const HeadTask& task, std::int64_t query, std::int64_t rows, std::int64_t keys) {
    for (std::int64_t key = 0; key < keys; key += kPanelOutputs) {
      multiply_tile(kType, {.x = part(task, query, 0),
                            .rows = static_cast<int>(rows),
                            .in = shape_.head_size,
                            .panel = key_panel(key),
                            .sums = scores_ + key,
                            .sums_stride = most_keys_});
    }
    const float scale = 1.0F / std::sqrt(static_cast<float>(shape_.head_size));
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t visible = shape_.causal ? std::min(keys, query + i + 1) : keys;
      totals_[i] = exponentials(scores_ + i * most_keys_, visible, keys, scale, weights_ + i * most_keys_);
    }
  }

  void weigh_values(const HeadTask& task, std::int64_t query, std::int64_t rows, std::int64_t keys,
                    float out_scale, TensorView out) {
    alignas(kAlignment) float sums[kTileRows * kPanelOutputs];
    for (std::int64_t column = 0; column < shape_.head_size; column += kPanelOutputs) {
      multiply_tile(kType, {.x = {reinterpret_cast<const std::byte*>(weights_), most_keys_ * kSize},
                            .rows = static_cast<int>(rows),
                            .in = keys,
                            .panel = value_panel(column),
                            .sums = sums});
      for (std::int64_t i = 0; i < rows; ++i) divide_row(sums + i * kPanelOutputs, totals_[i]);
      finish_tile({}, {.y_scale = out_scale},
                  {task.first_row + query, rows, task.column + column,
                   std::min(kPanelOutputs, shape_.head_size - column)},
                  sums, kPanelOutputs, out);
    }
  }

  const AttentionShape& shape_;
  const std::byte* qkv_;
  std::int64_t most_keys_;
  std::byte *keys_, *values_;  // panels
  float* scores_;              // [kTileRows, most_keys_]
  T* weights_;                 // the same: probabilities but for their division by
  float totals_[kTileRows] = {};
};

}  // namespace

void panel_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                     std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale) {
  const ArenaScope scope(context.scratch);
  const HeadTasks tasks(shape, valid_lengths, context.threads);
  with_float_type(qkv.dtype, [&]<class T>(Type<T>) {
    std::vector<HeadWorker<T>> workers;  // made here: scratch memory is one thread's
    for (int i = 0; i < context.threads; ++i) workers.emplace_back(context, shape, qkv);
    Claims claims(tasks.count(), context.threads);
#pragma omp parallel num_threads(context.threads)
    {
      const int thread = omp_get_thread_num();
      for (std::int64_t i = claims.next(thread); i < tasks.count(); i = claims.next(thread))
        workers[static_cast<std::size_t>(thread)].compute(tasks[i], out_scale, out);
    }
  });
}

}  // namespace podium::ops::cpu
