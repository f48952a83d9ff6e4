// Builds a WordPiece vocabulary from text: byte-pair style merges, always the most frequent adjacent pair
// next, ties to the pair that was known first. The same words and counts give the same vocabulary, in
// whatever order they come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker/tokenizer/words.h"

namespace podium {

class VocabularyBuilder {
 public:
  explicit VocabularyBuilder(bool lowercase) : normalizer_(BertRules::for_case(lowercase)) {}

  void add_text(std::string_view line);

  // The special tokens, every character seen (alone and as "##" continuation), then merges until `size`
  // tokens or until nothing is left to merge. Throws BadData where `size` cannot hold the characters.
  std::vector<std::string> build(std::int32_t size) const;

 private:
  BertNormalizer normalizer_;
  std::map<std::string, std::int64_t, std::less<>> words_;  // count of each, sorted
};

}  // namespace podium
