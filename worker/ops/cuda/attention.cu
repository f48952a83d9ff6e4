// Which kernels compute a call of attention, and where their temporaries lie. Forward keeps a statistic for
// each row of each head, from which backward computes the probabilities again.
#include <cmath>

#include "common/base/check.h"
#include "worker/ops/cuda/attention.h"
#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr std::size_t kAlignedTo = 256;  // bytes, of each temporary

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignedTo - 1) / kAlignedTo * kAlignedTo; }

bool tiled(const AttentionShape& shape, DType dtype) {
  return dtype != DType::f32 && shape.head_size % 8 == 0 && shape.head_size <= kMaxTiledHeadSize;
}

void check_limits(const AttentionShape& shape) {
  constexpr std::int64_t kMaxGridYz = 65535, kMaxLength = 1 << 20;
  PODIUM_CHECK(shape.head_size <= kMaxHeadSize, "CUDA attention holds heads of at most 256 columns");
  PODIUM_CHECK(shape.heads <= kMaxGridYz && shape.sequences <= kMaxGridYz && shape.length <= kMaxLength,
               "CUDA attention takes at most 65535 sequences and heads, and 1048576 rows of a sequence");
}

// The task of one call. `temporaries` floats for each row of each head and, with dropout, `kept` are taken
// from scratch memory.
struct Call {
  Call(Context& context, const AttentionShape& shape, std::span<const std::int32_t> valid_lengths,
       const Dropout& dropout, int temporaries) {
    check_limits(shape);
    constexpr float kLog2E = 1.44269504088896341F;
    const std::int64_t padded = (shape.length + kPaddedTo - 1) / kPaddedTo * kPaddedTo;
    const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_size));
    task = {.valid_lengths = valid_lengths.empty() ? nullptr : valid_lengths.data(),
            .row_begins = shape.row_begins.empty() ? nullptr : shape.row_begins.data(),
            .kept = nullptr,
            .statistics = nullptr,
            .deltas = nullptr,
            .length = static_cast<int>(shape.length),
            .padded = static_cast<int>(padded),
            .heads = static_cast<int>(shape.heads),
            .head_size = static_cast<int>(shape.head_size),
            .causal = shape.causal,
            .scale = scale,
            .scale_log2 = scale * kLog2E,
            .keep_scale = dropout.active() ? dropout.scale : 1.0F};
    const std::int64_t heads = shape.sequences * shape.heads;
    const std::size_t row_bytes = aligned(static_cast<std::size_t>(heads * shape.length) * sizeof(float));
    const auto kept_words = static_cast<std::size_t>(heads * padded * (padded / kStripKeys));
    auto* next = static_cast<std::byte*>(cuda_state(context).scratch(
        static_cast<std::size_t>(temporaries) * row_bytes + (dropout.active() ? 2 * kept_words : 0)));
    for (int i = 0; i < temporaries; ++i, next += row_bytes) rows[i] = reinterpret_cast<float*>(next);
    if (!dropout.active()) return;
    auto* const kept = reinterpret_cast<std::uint16_t*>(next);
    draw_kept(context, task, shape, dropout, kept);
    task.kept = kept;
  }

  AttentionTask task;
  float* rows[2] = {};  // [sequences, heads, length] each
};

void forward(Context& context, const AttentionShape& shape, const AttentionTask& task, ConstTensorView qkv,
             TensorView out) {
  const auto compute = tiled(shape, qkv.dtype) ? tiled_attention_forward : simple_attention_forward;
  compute(context, task, shape.sequences, qkv, out);
}

}  // namespace

AttentionSaved attention_saved(const AttentionShape& shape) {
  return {DType::f32, shape.sequences * shape.heads * shape.length};
}

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout, TensorView saved,
                       TensorView out) {
  if (qkv.size() == 0) return;
  Call call(context, shape, valid_lengths, dropout, saved.address == nullptr ? 1 : 0);
  call.task.statistics = saved.address == nullptr ? call.rows[0] : elements<float>(saved);
  forward(context, shape, call.task, qkv, out);
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView out, ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView saved, const Dropout& dropout, TensorView dqkv) {
  if (qkv.size() == 0) return;
  Call call(context, shape, valid_lengths, dropout, 2);
  call.task.deltas = call.rows[0];
  if (saved.address == nullptr) {
    call.task.statistics = call.rows[1];
    forward(context, shape, call.task, qkv, {});
  } else {
    call.task.statistics = const_cast<float*>(elements<float>(saved));  // which backward only reads
  }
  const auto compute = tiled(shape, qkv.dtype) ? tiled_attention_backward : simple_attention_backward;
  compute(context, call.task, shape.sequences, dout, out, qkv, dqkv);
}

}  // namespace podium::ops::cuda
