// Builds a byte-level BPE vocabulary from text, in the form of GPT-2's: the 256 bytes, then a token a merge,
// end-of-text last. The same words and counts give the same vocabulary, in whatever order they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace podium {

// The content of the two files that BpeVocabulary reads.
struct BpeFiles {
  std::string vocab_json;
  std::string merges_txt;
};

class BpeBuilder {
 public:
  void add_text(std::string_view document);  // valid UTF-8

  // Merges until there are `size` tokens or nothing is left to merge. Throws BadData where `size` cannot hold
  // the bytes or there was no text.
  BpeFiles build(std::int32_t size) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> words_;  // count of each
};

}  // namespace podium
