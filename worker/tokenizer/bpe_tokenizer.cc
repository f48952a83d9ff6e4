#include "worker/tokenizer/bpe_tokenizer.h"

#include <algorithm>
#include <string>

#include "worker/tokenizer/bpe_word_merger.h"
#include "worker/tokenizer/bpe_words.h"
#include "worker/tokenizer/character_counter.h"

namespace podium {
namespace {

BpeOptions published_options(const BpeVocabulary& vocabulary) {
  BpeOptions options;
  options.added.push_back({.content = std::string(kEndOfText), .id = vocabulary.end_of_text()});
  return options;
}

AddedTokens added_tokens(const BpeOptions& options, bool normalized) {
  std::vector<AddedToken> chosen;
  std::ranges::copy_if(options.added, std::back_inserter(chosen),
                       [&](const AddedToken& token) { return token.normalized == normalized; });
  return AddedTokens(std::move(chosen));
}

std::int32_t leading_spaces(std::string_view token) {
  return static_cast<std::int32_t>(std::min(token.find_first_not_of(' '), token.size()));
}

std::int32_t trailing_spaces(std::string_view token) {
  return static_cast<std::int32_t>(token.size() - (token.find_last_not_of(' ') + 1));
}

// The tokens whose bytes are merged to themselves. A file may have others, which no text gives.
ByteTrie whole_words(const BpeVocabulary& vocabulary) {
  BpeWordMerger merger(vocabulary);
  std::vector<ByteTrie::Entry> entries;
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    ids.clear();
    merger.merge(vocabulary.token(id), ids);
    if (ids.size() == 1 && ids.front() == id) entries.emplace_back(vocabulary.token(id), id);
  }
  return ByteTrie(std::move(entries));
}

}  // namespace

// One call of encode().
class BpeTokenizer::Pass {
 public:
  Pass(const BpeTokenizer& tokenizer, std::string_view text, TokenOutput output)
      : tokenizer_(tokenizer),
        merger_(tokenizer.vocabulary_),
        text_(text),
        characters_(text),
        output_(output) {}

  void run() {
    const auto on_token = [&](std::size_t begin, std::size_t end, std::int32_t id) {
      add_token(begin, end, id);
    };
    const auto on_text = [&](std::size_t begin, std::size_t end) {
      tokenizer_.added_later_.split(
          text_.substr(begin, end - begin),
          [&](std::size_t from, std::size_t to) { add_text(begin + from, begin + to); },
          [&](std::size_t from, std::size_t to, std::int32_t id) {
            add_token(begin + from, begin + to, id);
          });
    };
    tokenizer_.added_.split(text_, on_text, on_token);
  }

 private:
  void add_text(std::size_t begin, std::size_t end) {
    const std::string_view text = text_.substr(begin, end - begin);
    std::size_t at = 0;
    if (tokenizer_.options_.add_prefix_space && !text.starts_with(' ')) {
      const std::string prefixed = ' ' + std::string(text);
      const std::string_view word(prefixed.data(), first_bpe_word(prefixed));
      add_word(word, begin, 1);
      at = word.size() - 1;
    }
    while (at < text.size()) {
      const std::string_view word = text.substr(at, first_bpe_word(text.substr(at)));
      add_word(word, begin + at, 0);
      at += word.size();
    }
  }

  // The first `made_up` bytes of the word do not stand in the text; the others begin at `begin` there.
  void add_word(std::string_view word, std::size_t begin, std::size_t made_up) {
    const std::size_t first = output_.ids.size();
    tokenizer_.encode_word(word, merger_, output_.ids);
    if (!output_.offsets) return;
    for (std::size_t i = first, at = 0; i < output_.ids.size(); ++i) {
      const std::string_view token = tokenizer_.vocabulary_.token(output_.ids[i]);
      const std::size_t from = begin + at - std::min(at, made_up);
      at += token.size();
      const CharacterRange range = characters_.range(from, std::max(from + 1, begin + at - made_up));
      output_.offsets->push_back(trimmed(range, leading_spaces(token), trailing_spaces(token)));
    }
  }

  void add_token(std::size_t begin, std::size_t end, std::int32_t id) {
    output_.ids.push_back(id);
    if (!output_.offsets) return;
    const std::string_view token = text_.substr(begin, end - begin);
    const std::size_t first = behind_space(token, 0), last = before_space(token, token.size());
    output_.offsets->push_back(trimmed(characters_.range(begin, end),
                                       count_characters(token.substr(0, first)),
                                       count_characters(token.substr(last))));
  }

  CharacterRange trimmed(CharacterRange range, std::int32_t leading, std::int32_t trailing) const {
    const BpeOptions& options = tokenizer_.options_;
    if (!options.trim_offsets) return range;
    if (range.begin == 0 && leading == 1 && !options.trims_prefix) leading = 0;
    range.begin = std::min(range.begin + leading, range.end);
    if (range.end >= trailing) range.end = std::max(range.end - trailing, range.begin);
    return range;
  }

  const BpeTokenizer& tokenizer_;
  BpeWordMerger merger_;
  std::string_view text_;
  CharacterCounter characters_;
  TokenOutput output_;
};

BpeTokenizer::BpeTokenizer(BpeVocabulary vocabulary)
    : BpeTokenizer(vocabulary, published_options(vocabulary)) {}

BpeTokenizer::BpeTokenizer(BpeVocabulary vocabulary, BpeOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      size_(vocabulary_.size()),
      added_(added_tokens(options_, false)),
      added_later_(added_tokens(options_, true)),
      whole_(whole_words(vocabulary_)) {
  for (const AddedToken& token : options_.added) size_ = std::max(size_, token.id + 1);
}

void BpeTokenizer::encode(std::string_view text, TokenOutput output) const {
  Pass(*this, text, output).run();
}

std::int32_t BpeTokenizer::end_of_text() const {
  const auto found = std::ranges::find(options_.added, options_.end_of_text, &AddedToken::content);
  return found == options_.added.end() ? vocabulary_.end_of_text() : found->id;
}

std::string_view BpeTokenizer::token(std::int32_t id) const {
  if (id < vocabulary_.size()) return vocabulary_.token(id);
  const auto found = std::ranges::find(options_.added, id, &AddedToken::id);
  return found == options_.added.end() ? std::string_view() : found->content;
}

std::size_t BpeTokenizer::encode_words(std::string_view text, std::size_t bytes,
                                       std::vector<std::int32_t>& ids) const {
  BpeWordMerger merger(vocabulary_);
  std::size_t done = 0;
  while (done < std::min(bytes, text.size())) {
    const std::string_view rest = text.substr(done);
    const std::size_t word = first_bpe_word(rest);
    encode_word(rest.substr(0, word), merger, ids);
    done += word;
  }
  return done;
}

void BpeTokenizer::encode_word(std::string_view word, BpeWordMerger& merger,
                               std::vector<std::int32_t>& ids) const {
  const std::int32_t token = whole_.find(word);
  if (token != ByteTrie::kNone) {
    ids.push_back(token);
  } else {
    merger.merge(word, ids);
  }
}

}  // namespace podium
