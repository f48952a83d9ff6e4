// The tokens and merges of GPT-2's byte-level byte-pair encoding, from vocab.json (token -> id, in the byte
// alphabet) and merges.txt (a merge a line, the most important first). Every single byte is a token.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "worker/tokenizer/bpe_merges.h"

namespace podium {

inline constexpr std::string_view kEndOfText = "<|endoftext|>";

// Immutable once made.
class BpeVocabulary {
 public:
  // Throws BadData naming the file and, for merges, the line.
  static BpeVocabulary load(const std::filesystem::path& vocab_json, const std::filesystem::path& merges_txt);
  // The same from the files' content; the origins stand for their names in messages.
  BpeVocabulary(std::string_view vocab_json, const std::string& vocab_origin, std::string_view merges_txt,
                const std::string& merges_origin);

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  std::int32_t end_of_text() const { return end_of_text_; }
  std::int32_t byte_token(char byte) const { return byte_tokens_[static_cast<unsigned char>(byte)]; }
  // The bytes that a token stands for.
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  // Null where the two are never merged.
  const BpeMerge* find_merge(std::int32_t left, std::int32_t right) const {
    return merges_.find(left, right);
  }
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  using Ids = std::unordered_map<std::string, std::int32_t>;  // by the token as the files spell it

  void take_tokens(const Ids& ids, const std::string& origin);
  void read_merges(std::string_view text, const std::string& origin, const Ids& ids);

  std::vector<std::string> tokens_;
  std::array<std::int32_t, 256> byte_tokens_{};
  std::int32_t end_of_text_ = 0;
  BpeMerges merges_;
};

}  // namespace podium
