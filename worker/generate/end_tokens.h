// Which tokens end a text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {

// The tokenizer's, and those that a Hugging Face folder names: `eos_token_id`, a number or a list, of
// generation_config.json, else of config.json. Throws BadData naming the file.
std::vector<std::int32_t> end_tokens(const std::filesystem::path& model, const BpeTokenizer& tokenizer);

}  // namespace podium
