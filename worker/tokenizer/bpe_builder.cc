#include "worker/tokenizer/bpe_builder.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "worker/input/bad_data.h"
#include "worker/tokenizer/bpe_vocabulary.h"
#include "worker/tokenizer/bpe_words.h"
#include "worker/tokenizer/byte_alphabet.h"
#include "worker/tokenizer/pair_merger.h"

namespace podium {
namespace {

constexpr std::int32_t kBytes = 256;

// The bytes in the order of their letters, as GPT-2 numbers them. Code points order like their UTF-8.
std::vector<std::string> letters() {
  std::vector<std::string> all;
  for (int byte = 0; byte < kBytes; ++byte)
    all.push_back(to_byte_alphabet(std::string(1, static_cast<char>(byte))));
  std::sort(all.begin(), all.end());
  return all;
}

std::array<std::int32_t, kBytes> byte_ids(const std::vector<std::string>& tokens) {
  std::array<std::int32_t, kBytes> ids{};
  for (std::size_t id = 0; id < tokens.size(); ++id)
    ids[static_cast<unsigned char>(from_byte_alphabet(tokens[id])->front())] = static_cast<std::int32_t>(id);
  return ids;
}

std::string to_json(std::vector<std::string> tokens) {
  tokens.emplace_back(kEndOfText);
  std::string text;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    text += (id ? "," : "{") + nlohmann::json(tokens[id]).dump() + ":" + std::to_string(id);
  return text + "}\n";
}

}  // namespace

void BpeBuilder::add_text(std::string_view document) {
  while (!document.empty()) {
    const std::string_view word = document.substr(0, first_bpe_word(document));
    document.remove_prefix(word.size());
    const auto known = words_.find(word);
    if (known != words_.end()) {
      ++known->second;
    } else {
      words_.emplace(word, 1);
    }
  }
}

BpeFiles BpeBuilder::build(std::int32_t size) const {
  if (words_.empty()) throw BadData("the text holds no words to build a vocabulary from");
  if (size <= kBytes)
    throw BadData("a vocabulary of " + std::to_string(size) +
                  " tokens cannot hold the 256 bytes and end-of-text; ask for at least 257");
  std::vector<std::string> bytes = letters();
  const auto ids = byte_ids(bytes);
  std::vector<PairMerger::Word> words;
  for (const auto& [text, count] : words_) {
    PairMerger::Word word{{}, count};
    for (const char byte : text) word.pieces.push_back(ids[static_cast<unsigned char>(byte)]);
    words.push_back(std::move(word));
  }
  PairMerger merger(std::move(bytes), std::move(words),
                    [](const std::string& left, const std::string& right) { return left + right; });
  std::string merges = "#version: 0.2\n";
  const auto limit = static_cast<std::size_t>(size) - 1;
  while (merger.tokens().size() < limit) {
    const auto pair = merger.merge_best();
    if (!pair) break;
    merges += merger.tokens()[static_cast<std::size_t>(pair->first)] + ' ' +
              merger.tokens()[static_cast<std::size_t>(pair->second)] + '\n';
  }
  return {to_json(merger.tokens()), merges};
}

}  // namespace podium
