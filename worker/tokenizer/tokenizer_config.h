// What Hugging Face's tokenizer_config.json and added_tokens.json say of a tokenizer whose vocabulary lies
// beside them.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/tokenizer/added_tokens.h"
#include "worker/tokenizer/vocabulary.h"
#include "worker/tokenizer/words.h"

namespace podium {

// A setting that the files lack is empty.
struct TokenizerConfig {
  std::optional<bool> lowercase;
  std::optional<bool> strip_accents;
  std::optional<bool> isolate_ideographs;
  std::optional<bool> add_prefix_space;
  SpecialNames names;
  std::optional<std::string> end_of_text;
  std::vector<AddedToken> added;    // with their ids
  std::vector<AddedToken> special;  // without ids: the vocabulary has them, or they are added to it

  void apply_to(BertRules& rules) const;
};

// Throws BadData naming the file.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

// An entry of added_tokens or added_tokens_decoder.
AddedToken added_token_of(const nlohmann::json& entry, std::int32_t id);

// All of `added` and `special`. Special tokens get the ids that `id_of` knows, and the others the next ids
// from `next` on.
std::vector<AddedToken> resolve(const TokenizerConfig& config, std::int32_t next,
                                const std::function<std::optional<std::int32_t>(const std::string&)>& id_of);

}  // namespace podium
