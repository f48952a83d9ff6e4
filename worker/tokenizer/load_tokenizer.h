// Tokenizers from their files. All functions throw BadData naming the file, and the line where it has lines.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "worker/tokenizer/tokenizer.h"

namespace podium {

inline constexpr std::string_view kWordPiecePrefix = "wordpiece:";

// "wordpiece:vocab.txt", "bpe:vocab.json,merges.txt" or a folder. `lowercase` is for wordpiece: alone; a
// folder says what its tokenizer does.
std::unique_ptr<const Tokenizer> load_tokenizer(const std::string& what, bool lowercase);

// What a folder may say of its tokenizer.
inline constexpr std::array kTokenizerFiles{"tokenizer.json",
                                            "vocab.txt",
                                            "vocab.json",
                                            "merges.txt",
                                            "added_tokens.json",
                                            "tokenizer_config.json",
                                            "special_tokens_map.json"};
bool holds_tokenizer(const std::filesystem::path& folder);

// A folder in a form of Hugging Face's: tokenizer.json, else vocab.txt, else vocab.json with merges.txt;
// beside them tokenizer_config.json and added_tokens.json, whose settings go first.
std::unique_ptr<const Tokenizer> load_tokenizer_folder(const std::filesystem::path& folder);

}  // namespace podium
