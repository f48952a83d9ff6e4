#include "worker/tasks/squad/squad_text.h"

#include <algorithm>

#include "common/base/check.h"
#include "worker/data/xxh3.h"
#include "worker/input/utf8.h"
#include "worker/input/white_space.h"

namespace podium {
namespace {

// Without white space at the ends, with one space in place of each run within.
std::string folded(std::string_view text, bool (*is_space)(UChar32)) {
  std::string result;
  bool gap = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (is_space(next_character(text, at))) {
      gap = true;
      continue;
    }
    if (gap && !result.empty()) result += ' ';
    gap = false;
    result += text.substr(begin, at - begin);
  }
  return result;
}

// Where the words of a context lie, which are what stands between white space.
class ContextWords {
 public:
  explicit ContextWords(std::string_view text) : text_(text) {
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const bool space = is_document_space(next_character(text, at));
      if (!space && !in_word) begins_.push_back(begin);
      in_word = !space;
      word_of_character_.push_back(static_cast<std::int64_t>(begins_.size()) - 1);
    }
  }

  // Of a character, counted from 0; between words that of the word before, and -1 in front of all.
  std::int64_t word_of(std::int64_t character) const {
    return character < 0 || character >= std::ssize(word_of_character_)
               ? -1
               : word_of_character_[static_cast<std::size_t>(character)];
  }
  std::size_t begin_of(std::int64_t word) const {  // that of a word behind the last one is the text's end
    return word < std::ssize(begins_) ? begins_[static_cast<std::size_t>(word)] : text_.size();
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_;
  std::vector<std::int64_t> word_of_character_;
};

void expect(const SquadData& data, Reading& reading) {
  for (const SquadParagraph& paragraph : data.paragraphs) reading.expect(paragraph.context.size());
}

}  // namespace

std::string SquadContext::text_of(const TokenSpan& span) const {
  const auto begin = static_cast<std::size_t>(places[static_cast<std::size_t>(span.first)].begin);
  const auto end = static_cast<std::size_t>(places[static_cast<std::size_t>(span.last)].end);
  return folded(std::string_view(text).substr(begin, end - begin), is_document_space);
}

SquadContext encode_context(std::string text, const WordPieceTokenizer& tokenizer) {
  SquadContext context{.text = std::move(text)};
  std::vector<CharacterRange> characters;
  tokenizer.encode(context.text, {context.ids, &characters});
  std::vector<std::int32_t> begins;  // in bytes, of each character
  for (std::size_t at = 0; at < context.text.size();) {
    begins.push_back(static_cast<std::int32_t>(at));
    next_character(context.text, at);
  }
  begins.push_back(static_cast<std::int32_t>(context.text.size()));
  for (const CharacterRange& range : characters)
    context.places.push_back(
        {begins[static_cast<std::size_t>(range.begin)], begins[static_cast<std::size_t>(range.end)]});
  return context;
}

std::optional<TokenSpan> locate_answer(const SquadContext& context, const SquadAnswer& answer,
                                       const WordPieceTokenizer& tokenizer) {
  const ContextWords words(context.text);
  const std::int64_t first_word = words.word_of(answer.begin),
                     last_word = words.word_of(answer.begin + count_characters(answer.text) - 1);
  if (answer.text.empty() || first_word < 0 || last_word < first_word) return std::nullopt;
  const std::size_t begin = words.begin_of(first_word), end = words.begin_of(last_word + 1);
  const std::string found =
      folded(std::string_view(context.text).substr(begin, end - begin), is_document_space);
  if (found.find(folded(answer.text, is_python_space)) == std::string::npos) return std::nullopt;

  const auto token_at = [&](std::size_t byte) {
    const auto token = std::ranges::lower_bound(context.places, static_cast<std::int32_t>(byte), {},
                                                &SquadContext::Place::begin);
    return static_cast<std::int32_t>(token - context.places.begin());
  };
  const TokenSpan span{token_at(begin), token_at(end) - 1};
  if (span.last < span.first) return std::nullopt;  // words of control characters have no token
  std::vector<std::int32_t> own;
  tokenizer.encode(answer.text, own);
  for (std::int32_t first = span.first; first <= span.last; ++first) {
    const auto from = context.ids.begin() + first;
    if (!own.empty() && std::ssize(own) <= span.last - first + 1 && std::equal(own.begin(), own.end(), from))
      return TokenSpan{first, first + static_cast<std::int32_t>(own.size()) - 1};
  }
  return span;
}

void SquadText::add_training(const SquadData& data, const WordPieceTokenizer& tokenizer, Reading& reading) {
  expect(data, reading);
  for (const SquadParagraph& paragraph : data.paragraphs) {
    reading.advance(paragraph.context.size());
    contexts_.push_back(encode_context(paragraph.context, tokenizer));
    for (const SquadQuestion& asked : paragraph.questions) {
      Question question{.context = std::ssize(contexts_) - 1};
      const bool has_answer = !asked.impossible && !asked.answers.empty();
      if (has_answer) question.answer = locate_answer(contexts_.back(), asked.answers.front(), tokenizer);
      if (contexts_.back().ids.empty() || has_answer != question.answer.has_value()) {
        if (left_out_++ == 0) first_left_out_ = asked.id;
        continue;
      }
      tokenizer.encode(asked.text, question.ids);
      questions_.push_back(std::move(question));
    }
  }
}

void SquadText::add_questions(const SquadData& data, const WordPieceTokenizer& tokenizer, Reading& reading) {
  expect(data, reading);
  for (const SquadParagraph& paragraph : data.paragraphs) {
    reading.advance(paragraph.context.size());
    contexts_.push_back(encode_context(paragraph.context, tokenizer));
    for (const SquadQuestion& asked : paragraph.questions) {
      Question& question = questions_.emplace_back();
      question.context = std::ssize(contexts_) - 1;
      tokenizer.encode(asked.text, question.ids);
    }
  }
}

TextIdentity SquadText::identity() const {
  Xxh3 hash;
  std::int64_t tokens = 0;
  const auto add = [&](const auto& values) { hash.add(std::as_bytes(std::span(values))); };
  for (const SquadContext& context : contexts_) {
    tokens += std::ssize(context.ids);
    add(context.ids);
  }
  for (const Question& question : questions_) {
    tokens += std::ssize(question.ids);
    add(question.ids);
    const TokenSpan answer = question.answer.value_or(TokenSpan{-1, -1});
    const std::int64_t numbers[] = {question.context, answer.first, answer.last};
    add(numbers);
  }
  return {tokens, std::ssize(questions_), hash.digest().xxh3};
}

SquadFeatures::SquadFeatures(const SquadText& text, const FeatureShape& shape) : text_(text), shape_(shape) {
  PODIUM_CHECK(shape.sequence_length > shape.query_length + kSquadSpecialTokens && shape.document_stride > 0,
               "a feature has room for a part of the context");
  const auto& questions = text.questions();
  for (std::int64_t q = 0; q < std::ssize(questions); ++q) {
    firsts_.push_back(size());
    const SquadText::Question& question = questions[static_cast<std::size_t>(q)];
    const auto all = static_cast<std::int32_t>(text.context_of(question).ids.size());
    const std::int32_t most = shape.sequence_length - query_tokens(question) - kSquadSpecialTokens;
    for (std::int32_t begin = 0; begin < all; begin += std::min(most, shape.document_stride)) {
      features_.push_back({q, begin, std::min(most, all - begin)});
      if (begin + most >= all) break;
    }
  }
  firsts_.push_back(size());
}

std::int32_t SquadFeatures::query_tokens(const SquadText::Question& question) const {
  return std::min(static_cast<std::int32_t>(question.ids.size()), shape_.query_length);
}

std::int32_t SquadFeatures::context_begin(std::int64_t feature) const {
  return query_tokens(question_of(feature)) + 2;
}

std::int32_t SquadFeatures::append(std::int64_t feature, const SpecialTokens& special,
                                   std::vector<std::int32_t>& ids) const {
  const SquadFeature& own = (*this)[feature];
  const SquadText::Question& question = question_of(feature);
  const auto begin = ids.size();
  ids.push_back(special.classify);
  ids.insert(ids.end(), question.ids.begin(), question.ids.begin() + query_tokens(question));
  ids.push_back(special.separator);
  const auto before = static_cast<std::int32_t>(ids.size() - begin);
  const auto from = text_.context_of(question).ids.begin() + own.begin;
  ids.insert(ids.end(), from, from + own.length);
  ids.push_back(special.separator);
  return before;
}

void SquadFeatures::append(std::int64_t feature, const SpecialTokens& special, std::vector<std::int32_t>& ids,
                           std::vector<std::int32_t>& types) const {
  const std::int32_t before = append(feature, special, ids);
  types.resize(types.size() + static_cast<std::size_t>(before), 0);
  types.resize(ids.size(), 1);
}

TokenSpan SquadFeatures::answer_positions(std::int64_t feature) const {
  const SquadFeature& own = (*this)[feature];
  const std::optional<TokenSpan>& answer = question_of(feature).answer;
  if (!answer || answer->first < own.begin || answer->last >= own.begin + own.length) return {};
  const std::int32_t shift = context_begin(feature) - own.begin;
  return {answer->first + shift, answer->last + shift};
}

// Ties go to the earlier feature, and to the longer before that, by as much as run_squad.py says.
bool SquadFeatures::shows_most(std::int64_t feature, std::int32_t token) const {
  const std::int64_t question = (*this)[feature].question;
  std::int64_t best = -1;
  double best_score = 0;
  for (std::int64_t other = first_of(question); other < first_of(question + 1); ++other) {
    const SquadFeature& span = (*this)[other];
    const std::int32_t left = token - span.begin, right = span.begin + span.length - 1 - token;
    if (left < 0 || right < 0) continue;
    const double score = std::min(left, right) + 0.01 * span.length;
    if (best >= 0 && score <= best_score) continue;
    best = other;
    best_score = score;
  }
  return best == feature;
}

}  // namespace podium
