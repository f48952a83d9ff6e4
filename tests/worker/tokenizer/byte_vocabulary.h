// Small byte-level vocabularies for tests: the 256 bytes, what some merges make, and end-of-text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "worker/tokenizer/bpe_vocabulary.h"
#include "worker/tokenizer/byte_alphabet.h"

namespace podium {

inline nlohmann::json byte_ids(const std::vector<std::string>& merges) {
  nlohmann::json ids;
  for (int byte = 0; byte < 256; ++byte)
    ids[to_byte_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ');
    const std::string token = merge.substr(0, space) + merge.substr(space + 1);
    if (!ids.contains(token)) ids[token] = ids.size();
  }
  ids[std::string(kEndOfText)] = ids.size();
  return ids;
}

// Merges are written in the byte alphabet, the most important first.
inline BpeVocabulary byte_vocabulary(const std::vector<std::string>& merges) {
  std::string lines;
  for (const std::string& merge : merges) lines += merge + "\n";
  return {byte_ids(merges).dump(), "vocab.json", lines, "merges.txt"};
}

}  // namespace podium
