// SQuAD's contexts and questions as tokens, and the features that a model sees of them, as Google's
// run_squad.py makes them (Devlin et al., 2018): [CLS] question [SEP] a span of the context [SEP]. A context
// that does not fit is seen in spans that begin a stride apart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/text_identity.h"
#include "worker/data/reading.h"
#include "worker/tasks/squad/squad_data.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

// [CLS] and two [SEP].
inline constexpr int kSquadSpecialTokens = 3;

// Tokens `first` to `last` of a context.
struct TokenSpan {
  std::int32_t first = 0;
  std::int32_t last = 0;
  bool operator==(const TokenSpan&) const = default;
};

struct SquadContext {
  // Bytes [begin, end) of the text.
  struct Place {
    std::int32_t begin = 0;
    std::int32_t end = 0;
  };

  std::string text;
  std::vector<std::int32_t> ids;
  std::vector<Place> places;  // that the tokens come from

  // The text from the first character of the span to its last, with runs of white space as one space.
  std::string text_of(const TokenSpan& span) const;
};

SquadContext encode_context(std::string text, const WordPieceTokenizer& tokenizer);

// The tokens of the answer, as run_squad.py finds them: those of the words (between white space) that it
// touches, or, where the tokens of the answer's own text are among these, only they. Nothing where the text
// of these words does not contain the answer's.
std::optional<TokenSpan> locate_answer(const SquadContext& context, const SquadAnswer& answer,
                                       const WordPieceTokenizer& tokenizer);

// Immutable once read.
class SquadText {
 public:
  struct Question {
    std::int64_t context = 0;
    std::vector<std::int32_t> ids;
    std::optional<TokenSpan> answer;  // in training; none: the question has none
  };

  // Adds the questions to train on, each with its first answer. One whose answer is not in the context is
  // left out and counted, and so is one of a context without a token.
  void add_training(const SquadData& data, const WordPieceTokenizer& tokenizer, Reading& reading);
  // Adds the questions to answer, all of them, in order.
  void add_questions(const SquadData& data, const WordPieceTokenizer& tokenizer, Reading& reading);

  const std::vector<SquadContext>& contexts() const { return contexts_; }
  const std::vector<Question>& questions() const { return questions_; }
  const SquadContext& context_of(const Question& question) const {
    return contexts_[static_cast<std::size_t>(question.context)];
  }
  std::int64_t left_out() const { return left_out_; }
  const std::string& first_left_out() const { return first_left_out_; }  // id

  TextIdentity identity() const;  // reads all of it

 private:
  std::vector<SquadContext> contexts_;
  std::vector<Question> questions_;
  std::int64_t left_out_ = 0;
  std::string first_left_out_;
};

// Tokens [begin, begin + length) of the question's context.
struct SquadFeature {
  std::int64_t question = 0;
  std::int32_t begin = 0;
  std::int32_t length = 0;
  bool operator==(const SquadFeature&) const = default;
};

struct FeatureShape {
  int sequence_length = 384;
  int document_stride = 128;
  int query_length = 64;  // of a question's tokens so many are kept
};

// The features of all questions, question after question, for one shape.
class SquadFeatures {
 public:
  // `text` must outlive it.
  SquadFeatures(const SquadText& text, const FeatureShape& shape);

  std::int64_t size() const { return static_cast<std::int64_t>(features_.size()); }
  const SquadFeature& operator[](std::int64_t feature) const {
    return features_[static_cast<std::size_t>(feature)];
  }
  // Those of question q are [first_of(q), first_of(q + 1)).
  std::int64_t first_of(std::int64_t question) const { return firsts_[static_cast<std::size_t>(question)]; }

  // Appends the feature's tokens, without padding; returns how many come before the context's.
  std::int32_t append(std::int64_t feature, const SpecialTokens& special,
                      std::vector<std::int32_t>& ids) const;
  // The same with the tokens' types: 1 from the context on.
  void append(std::int64_t feature, const SpecialTokens& special, std::vector<std::int32_t>& ids,
              std::vector<std::int32_t>& types) const;
  // Where the context's tokens begin in the sequence.
  std::int32_t context_begin(std::int64_t feature) const;
  // The answer's first and last position in the sequence; 0 and 0, [CLS], where the feature lacks it.
  TokenSpan answer_positions(std::int64_t feature) const;
  // Whether of the question's features this one shows most around a token of the context that it has.
  bool shows_most(std::int64_t feature, std::int32_t token) const;

  const SquadText& text() const { return text_; }

 private:
  const SquadText::Question& question_of(std::int64_t feature) const {
    return text_.questions()[static_cast<std::size_t>((*this)[feature].question)];
  }
  std::int32_t query_tokens(const SquadText::Question& question) const;

  const SquadText& text_;
  FeatureShape shape_;
  std::vector<SquadFeature> features_;
  std::vector<std::int64_t> firsts_;
};

}  // namespace podium
