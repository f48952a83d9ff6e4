// LAMBADA (Paperno et al., 2016): is the last word of each passage what the model would have said? Strictly,
// as Megatron-LM counts: every token of the word must be the likeliest one behind those before it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "worker/nn/micro_batch.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

struct LastWord {
  std::vector<std::int32_t> context;  // tokens of what is before the word
  std::vector<std::int32_t> word;     // of a space and the word
};

// Without a context where the passage has one word only.
LastWord split_last_word(std::string_view passage, const Tokenizer& tokenizer);

// One sequence that predicts the word; of a longer context than `length` allows the end.
MicroBatch batch_of(const LastWord& passage, std::int32_t length);

}  // namespace podium
