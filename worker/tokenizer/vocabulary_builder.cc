#include "worker/tokenizer/vocabulary_builder.h"

#include <set>

#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"
#include "worker/tokenizer/pair_merger.h"
#include "worker/tokenizer/wordpiece.h"
#include "worker/tokenizer/words.h"

namespace podium {
namespace {

// A tokenizer reads such a word as [UNK], whatever the vocabulary.
bool is_too_long(std::string_view word) {
  const std::int32_t longest = WordPieceOptions{}.longest_word;
  if (std::ssize(word) <= longest) return false;
  std::int32_t characters = 0;
  split_characters(word, [&](std::string_view) { ++characters; });
  return characters > longest;
}

std::string merged_text(const std::string& left, const std::string& right) { return left + right.substr(2); }

}  // namespace

void VocabularyBuilder::add_text(std::string_view line) {
  NormalizedText normalized;
  normalizer_.normalize(line, std::nullopt, normalized);
  const std::string_view text = normalized.text;
  for_each_word(text, [&](std::size_t begin, std::size_t end) {
    const std::string_view word = text.substr(begin, end - begin);
    if (is_too_long(word)) return;
    const auto known = words_.find(word);
    if (known != words_.end()) {
      ++known->second;
    } else {
      words_.emplace(word, 1);
    }
  });
}

std::vector<std::string> VocabularyBuilder::build(std::int32_t size) const {
  if (words_.empty()) throw BadData("the text holds no words to build a vocabulary from");
  std::set<std::string> characters;
  for (const auto& [word, count] : words_)
    split_characters(word, [&](std::string_view character) { characters.emplace(character); });

  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::map<std::string, std::int32_t, std::less<>> single;
  for (const std::string& prefix : {std::string(), std::string("##")})
    for (const std::string& character : characters) {
      single[prefix + character] = static_cast<std::int32_t>(tokens.size());
      tokens.push_back(prefix + character);
    }
  const auto limit = static_cast<std::size_t>(size);
  if (tokens.size() > limit)
    throw BadData("a vocabulary of " + std::to_string(size) + " tokens cannot hold the text's " +
                  std::to_string(characters.size()) + " characters; ask for at least " +
                  std::to_string(tokens.size()));

  std::vector<PairMerger::Word> words;
  for (const auto& [text, count] : words_) {
    PairMerger::Word word{{}, count};
    split_characters(text, [&](std::string_view character) {
      word.pieces.push_back(single.at((word.pieces.empty() ? "" : "##") + std::string(character)));
    });
    words.push_back(std::move(word));
  }
  PairMerger merger(std::move(tokens), std::move(words), merged_text);
  while (merger.tokens().size() < limit && merger.merge_best()) {
  }
  return merger.tokens();
}

}  // namespace podium
