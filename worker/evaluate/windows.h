// Sequences that predict every token of a long text once, each with as much context as a window has: windows
// begin `stride` tokens after one another, and each predicts what no window before it has (Baevski and Auli,
// 2018; Megatron-LM's overlapping evaluation).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/nn/micro_batch.h"

namespace podium {

struct WindowRule {
  std::int32_t length = 1024;  // tokens that a window reads
  std::int32_t stride = 32;    // at most `length`
};

// How many windows predict the tokens [1, tokens).
std::int64_t window_count(std::int64_t tokens, const WindowRule& rule);

// Windows [begin, end) as one batch of next-token prediction; `pad` fills what a window lacks.
MicroBatch windows_of(std::span<const std::int32_t> ids, const WindowRule& rule, std::int64_t begin,
                      std::int64_t end, std::int32_t pad);

}  // namespace podium
