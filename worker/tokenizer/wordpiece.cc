#include "worker/tokenizer/wordpiece.h"

#include <algorithm>

#include "worker/tokenizer/character_counter.h"

namespace podium {
namespace {

// Those of BERT, as its tokenizers declare them.
WordPieceOptions wordpiece_published_options(const Vocabulary& vocabulary, bool lowercase) {
  WordPieceOptions options{.rules = BertRules::for_case(lowercase)};
  const SpecialTokens& special = vocabulary.special();
  for (const std::int32_t id :
       {special.pad, special.unknown, special.classify, special.separator, special.mask})
    options.added.push_back({.content = vocabulary.token(id), .id = id});
  return options;
}

AddedTokens wordpiece_added_tokens(const WordPieceOptions& options, const BertNormalizer& normalizer,
                                   bool normalized) {
  std::vector<AddedToken> chosen;
  for (AddedToken token : options.added) {
    if (token.normalized != normalized) continue;
    if (normalized) {
      NormalizedText content;
      normalizer.normalize(token.content, std::nullopt, content);
      token.content = std::move(content.text);
    }
    chosen.push_back(std::move(token));
  }
  return AddedTokens(std::move(chosen));
}

SpecialTokens special_tokens(const Vocabulary& vocabulary, const WordPieceOptions& options) {
  SpecialTokens special = vocabulary.special();
  const auto complete = [&](std::int32_t& id, const std::string& name) {
    const auto added = std::ranges::find(options.added, name, &AddedToken::content);
    if (id < 0 && added != options.added.end()) id = added->id;
  };
  complete(special.pad, options.names.pad);
  complete(special.classify, options.names.classify);
  complete(special.separator, options.names.separator);
  complete(special.mask, options.names.mask);
  return special;
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(Vocabulary vocabulary, bool lowercase)
    : WordPieceTokenizer(vocabulary, wordpiece_published_options(vocabulary, lowercase)) {}

WordPieceTokenizer::WordPieceTokenizer(Vocabulary vocabulary, const WordPieceOptions& options)
    : vocabulary_(std::move(vocabulary)),
      special_(special_tokens(vocabulary_, options)),
      size_(vocabulary_.size()),
      longest_word_(options.longest_word),
      normalizer_(options.rules),
      added_(wordpiece_added_tokens(options, normalizer_, false)),
      added_normalized_(wordpiece_added_tokens(options, normalizer_, true)) {
  for (const AddedToken& token : options.added) {
    if (token.id >= vocabulary_.size()) beyond_.push_back(token);
    size_ = std::max(size_, token.id + 1);
  }
  std::vector<ByteTrie::Entry> beginnings, continuations;
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view token = vocabulary_.token(id);
    if (!token.empty()) beginnings.emplace_back(token, id);
    if (token.starts_with(options.continuation) && token.size() > options.continuation.size())
      continuations.emplace_back(token.substr(options.continuation.size()), id);
  }
  beginnings_ = ByteTrie(std::move(beginnings));
  continuations_ = ByteTrie(std::move(continuations));
}

std::string_view WordPieceTokenizer::token(std::int32_t id) const {
  if (id < vocabulary_.size()) return vocabulary_.token(id);
  const auto added = std::ranges::find(beyond_, id, &AddedToken::id);
  return added == beyond_.end() ? std::string_view() : added->content;
}

void WordPieceTokenizer::encode(std::string_view text, TokenOutput output) const {
  CharacterCounter characters(text);
  NormalizedText normalized;
  const auto on_text = [&](std::size_t begin, std::size_t end) {
    std::optional<std::int32_t> place;
    if (output.offsets) place = characters.before(begin);
    normalized.text.clear();
    normalized.places.clear();
    normalizer_.normalize(text.substr(begin, end - begin), place, normalized);
    encode_normalized(normalized, output);
  };
  const auto on_token = [&](std::size_t begin, std::size_t end, std::int32_t id) {
    output.ids.push_back(id);
    if (output.offsets) output.offsets->push_back(characters.range(begin, end));
  };
  added_.split(text, on_text, on_token);
}

void WordPieceTokenizer::encode_normalized(const NormalizedText& text, TokenOutput output) const {
  const auto on_text = [&](std::size_t begin, std::size_t end) {
    for_each_word(std::string_view(text.text).substr(begin, end - begin),
                  [&](std::size_t word_begin, std::size_t word_end) {
                    encode_word(text, begin + word_begin, begin + word_end, output);
                  });
  };
  const auto on_token = [&](std::size_t begin, std::size_t end, std::int32_t id) {
    output.ids.push_back(id);
    if (output.offsets) output.offsets->push_back(text.range(begin, end));
  };
  added_normalized_.split(text.text, on_text, on_token);
}

void WordPieceTokenizer::encode_word(const NormalizedText& text, std::size_t begin, std::size_t end,
                                     TokenOutput output) const {
  const std::size_t first = output.ids.size(), first_range = output.offsets ? output.offsets->size() : 0;
  const std::string_view word = std::string_view(text.text).substr(begin, end - begin);
  const auto longest = static_cast<std::size_t>(longest_word_);
  bool known = word.size() <= longest || static_cast<std::size_t>(count_characters(word)) <= longest;
  for (std::size_t at = 0; known && at < word.size();) {
    const ByteTrie::Match match = (at == 0 ? beginnings_ : continuations_).longest(word.substr(at));
    known = match.value != ByteTrie::kNone;
    if (!known) break;
    output.ids.push_back(match.value);
    if (output.offsets) output.offsets->push_back(text.range(begin + at, begin + at + match.bytes));
    at += match.bytes;
  }
  if (known) return;
  output.ids.resize(first);
  output.ids.push_back(vocabulary_.special().unknown);
  if (!output.offsets) return;
  output.offsets->resize(first_range);
  output.offsets->push_back(text.range(begin, end));
}

}  // namespace podium
