// Which kernels compute a call of attention, and where their temporaries lie. Forward keeps a statistic for
// each row of each head, from which backward computes the probabilities again, and what dropout kept of them,
// which takes longer to draw than to read.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/check.h"
#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/inference_attention.h"

namespace podium::ops::cuda {
namespace {

bool tiled(const AttentionShape& shape, DType dtype) {
  return dtype != DType::f32 && shape.head_size % 8 == 0 && shape.head_size <= kMaxTiledHeadSize;
}

// 32 bits count the dropout's words of a head.
static_assert(kMaxDeviceLengthWithDropout / kStripKeys * kMaxDeviceLengthWithDropout <=
              std::numeric_limits<std::int32_t>::max());

void check_limits(const AttentionShape& shape, const Dropout& dropout) {
  constexpr std::int64_t kMaxGridYz = 65535, kMaxLength = 1 << 20;
  PODIUM_CHECK(shape.head_size <= kMaxHeadSize, "CUDA attention holds heads of at most 256 columns");
  PODIUM_CHECK(shape.heads <= kMaxGridYz && shape.sequences <= kMaxGridYz && shape.length <= kMaxLength,
               "CUDA attention takes at most 65535 sequences and heads, and 1048576 rows of a sequence");
  PODIUM_CHECK(!dropout.active() || shape.length <= kMaxDeviceLengthWithDropout,
               "CUDA attention takes at most 131072 rows of a sequence where it drops out");
}

std::int64_t padded_length(const AttentionShape& shape) {
  return (shape.length + kPaddedTo - 1) / kPaddedTo * kPaddedTo;
}

std::int64_t row_count(const AttentionShape& shape) { return shape.sequences * shape.heads * shape.length; }

// Of the partial sums: the tiled gradient's blocks leave one for every kGradientRows rows of every sequence.
std::int64_t partial_sum_rows(const AttentionShape& shape) {
  return shape.sequences * ((shape.length + kGradientRows - 1) / kGradientRows);
}

std::int64_t kept_floats(const AttentionShape& shape, const Dropout& dropout) {
  const std::int64_t padded = padded_length(shape);
  return dropout.active() ? shape.sequences * shape.heads * padded * padded / 32 : 0;
}

std::int64_t saved_floats(const AttentionShape& shape, const Dropout& dropout) {
  return kept_floats(shape, dropout) + row_count(shape);
}

// `saved` takes what dropout keeps, which is copied in 16 bytes, then the statistics.
AttentionTask make_task(const AttentionShape& shape, std::span<const std::int32_t> valid_lengths,
                        const Dropout& dropout, float* saved) {
  constexpr float kLog2E = 1.44269504088896341F;
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_size));
  return {.valid_lengths = valid_lengths.empty() ? nullptr : valid_lengths.data(),
          .row_begins = shape.row_begins.empty() ? nullptr : shape.row_begins.data(),
          .kept = dropout.active() ? reinterpret_cast<std::uint16_t*>(saved) : nullptr,
          .statistics = saved == nullptr ? nullptr : saved + kept_floats(shape, dropout),
          .deltas = nullptr,
          .partial_sums = nullptr,
          .length = static_cast<int>(shape.length),
          .padded = static_cast<int>(padded_length(shape)),
          .heads = static_cast<int>(shape.heads),
          .head_size = static_cast<int>(shape.head_size),
          .causal = shape.causal,
          .scale = scale,
          .scale_log2 = scale * kLog2E,
          .keep_scale = dropout.active() ? dropout.scale : 1.0F};
}

float* scratch(Context& context, std::int64_t floats) {
  return static_cast<float*>(cuda_state(context).scratch(static_cast<std::size_t>(floats) * sizeof(float)));
}

void forward(Context& context, const AttentionShape& shape, const AttentionTask& task, const Dropout& dropout,
             ConstTensorView qkv, TensorView out) {
  if (dropout.active()) draw_kept(context, task, shape, dropout);
  const auto compute = tiled(shape, qkv.dtype) ? tiled_attention_forward : simple_attention_forward;
  compute(context, task, shape.sequences, qkv, out);
}

}  // namespace

AttentionSaved attention_saved(const Context& /*context*/, const AttentionShape& shape, DType /*qkv*/,
                               const Dropout& dropout) {
  check_limits(shape, dropout);
  return {DType::f32, saved_floats(shape, dropout)};
}

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout, TensorView saved,
                       TensorView out) {
  check_limits(shape, dropout);
  if (qkv.size() == 0) return;
  float* const to =
      saved.address == nullptr ? scratch(context, saved_floats(shape, dropout)) : elements<float>(saved);
  forward(context, shape, make_task(shape, valid_lengths, dropout, to), dropout, qkv, out);
}

DType quantised_attention_type(const Context& /*context*/, DType activation) { return activation; }

bool attention_quantises(const Context& /*context*/, const AttentionShape& shape, DType qkv) {
  return qkv == DType::f16 && shape.head_size % 8 == 0 && shape.head_size <= kQuantisedHeadSize;
}

void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale) {
  check_limits(shape, {});
  if (qkv.size() == 0) return;
  const AttentionTask task = make_task(shape, valid_lengths, {}, nullptr);
  if (split_keys(task, shape.sequences, qkv.dtype))
    return split_attention_forward(context, task, shape.sequences, qkv, out, out_scale);
  if (is_quantised(out.dtype))
    return tiled_attention_forward_quantised(context, task, shape.sequences, qkv, {out, out_scale});
  forward(context, shape, task, {}, qkv, out);
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView out, ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView saved, const Dropout& dropout, TensorView dqkv,
                        TensorView column_sums) {
  check_limits(shape, dropout);
  if (qkv.size() == 0) return;
  const bool again = saved.address == nullptr, in_tiles = tiled(shape, qkv.dtype);
  const bool sums = column_sums.address != nullptr;
  const std::int64_t rows = row_count(shape), columns = 3 * shape.hidden();
  // Room for what forward saves where it computes it again, for the deltas and for the partial sums.
  const std::int64_t again_count = again ? saved_floats(shape, dropout) : 0;
  const std::int64_t partial_rows = in_tiles && sums ? partial_sum_rows(shape) : 0;
  float* const room = scratch(context, again_count + rows + partial_rows * columns);
  // What forward saved is only read.
  float* const from = again ? room : const_cast<float*>(elements<float>(saved));
  AttentionTask task = make_task(shape, valid_lengths, dropout, from);
  task.deltas = room + again_count;
  if (partial_rows > 0) task.partial_sums = task.deltas + rows;
  if (again) forward(context, shape, task, dropout, qkv, {});
  if (!in_tiles) {
    simple_attention_backward(context, task, shape.sequences, dout, out, qkv, dqkv);
    if (sums) add_column_sums(context, dqkv, {}, column_sums);
    return;
  }
  tiled_attention_backward_queries(context, task, shape.sequences, dout, out, qkv, dqkv);
  tiled_attention_backward_keys(context, task, shape.sequences, dout, out, qkv, dqkv);
  if (sums)
    add_partials(context, task.partial_sums, static_cast<unsigned>(partial_rows), columns, columns,
                 std::array{elements<float>(column_sums)});
}

}  // namespace podium::ops::cuda
