#include "worker/ops/cpu/attention_plan.h"

#include <algorithm>

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kRowMultiple = 16;
constexpr std::int64_t kBlockRows = 128;       // scores of a block and 512 keys take 256 KiB
constexpr std::int64_t kCausalBlockRows = 64;  // smaller: less of what the mask hides is computed

HeadPlan plan_head(std::int64_t length, bool causal) {
  HeadPlan plan{.length = length, .blocks = {}, .probabilities = 0};
  const std::int64_t step = causal ? kCausalBlockRows : kBlockRows;
  for (std::int64_t begin = 0; begin < length; begin += step) {
    const std::int64_t rows = std::min(step, length - begin);
    const std::int64_t keys = causal ? begin + rows : length;
    plan.blocks.push_back({begin, rows, keys, plan.probabilities});
    plan.probabilities += rows * keys;
  }
  return plan;
}

}  // namespace

AttentionPlan::AttentionPlan(const AttentionShape& shape) {
  for (std::int64_t s = 0; s < shape.sequences; ++s) {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t first = shape.row_begins.empty() ? s * shape.length : shape.row_begins[at];
    const std::int64_t rows = shape.row_begins.empty() ? shape.length : shape.row_begins[at + 1] - first;
    const std::int64_t padded = (rows + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
    const auto [head, added] = heads_.try_emplace(padded);
    if (added) head->second = plan_head(padded, shape.causal);
    sequences_.push_back({first, rows, probabilities_, &head->second});
    probabilities_ += shape.heads * head->second.probabilities;
  }
}

}  // namespace podium::ops::cpu
