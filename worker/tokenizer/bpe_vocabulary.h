// The tokens and merges of GPT-2's byte-level byte-pair encoding, from vocab.json (token -> id, in the byte
// alphabet) and merges.txt (a merge a line, the most important first). Every single byte is a token.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/tokenizer/bpe_merges.h"
#include "worker/tokenizer/token_ids.h"

namespace podium {

inline constexpr std::string_view kEndOfText = "<|endoftext|>";

// Merges as their file spells them, in its order.
struct BpeMergeList {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string origin;      // "merges.txt:", to which messages add a number
  std::int64_t first = 1;  // that of the first pair
};

// Immutable once made.
class BpeVocabulary {
 public:
  enum class EndOfText { needed, optional };

  // Throws BadData naming the file and, for merges, the line.
  static BpeVocabulary load(const std::filesystem::path& vocab_json, const std::filesystem::path& merges_txt,
                            EndOfText end_of_text = EndOfText::needed);
  // The same from the files' content; the origins stand for their names in messages.
  BpeVocabulary(std::string_view vocab_json, const std::string& vocab_origin, std::string_view merges_txt,
                const std::string& merges_origin, EndOfText end_of_text = EndOfText::needed);
  BpeVocabulary(const TokenIds& ids, const std::string& origin, const BpeMergeList& merges,
                EndOfText end_of_text);

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  std::int32_t end_of_text() const { return end_of_text_; }  // -1: there is none
  std::int32_t byte_token(char byte) const { return byte_tokens_[static_cast<unsigned char>(byte)]; }
  // The bytes that a token stands for.
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  // Null where the two are never merged.
  const BpeMerge* find_merge(std::int32_t left, std::int32_t right) const {
    return merges_.find(left, right);
  }
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  std::vector<std::string> tokens_;
  std::array<std::int32_t, 256> byte_tokens_{};
  std::int32_t end_of_text_ = -1;
  BpeMerges merges_;
};

}  // namespace podium
