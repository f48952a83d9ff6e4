// Sentences, or pairs of them, with a label each, from tables (input/table_file.h) whose columns the spec
// names. A label is the name of a class, or with regression a number. Immutable once read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/classify_spec.h"
#include "common/model/text_identity.h"
#include "worker/data/reading.h"
#include "worker/data/sentence_sequence.h"
#include "worker/data/token_array.h"
#include "worker/input/table_file.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

// Sentence, and the pair's second where there is one; then the label, if it is wanted.
TableForm table_form(const ClassifySpec& spec, bool with_label);

// Tokenizes the cells of table_form(). Throws BadData naming `file` where a sentence is blank or has no
// token.
SentenceTokens tokenize_row(const TableRow& row, const ClassifySpec& spec, const Tokenizer& tokenizer,
                            const std::filesystem::path& file);

class LabelledText {
 public:
  static constexpr std::size_t kMostClasses = 1000;

  // Reads `files` in order. A label must be one of `classes`; if that is empty, the classes are the labels
  // that occur, at least two, in the order of their bytes. Throws BadData, which names file and line.
  static LabelledText read(const std::vector<std::filesystem::path>& files, const ClassifySpec& spec,
                           const Tokenizer& tokenizer, Reading& reading,
                           const std::vector<std::string>& classes = {});

  std::int64_t size() const { return (std::ssize(begins_) - 1) / parts_; }
  SentenceTokens sentences(std::int64_t sample) const;
  // Of both sentences, without special tokens.
  std::int64_t length(std::int64_t sample) const { return begin_of(sample + 1) - begin_of(sample); }

  const std::vector<std::string>& classes() const { return classes_; }  // none with regression
  std::int32_t label(std::int64_t sample) const { return labels_[static_cast<std::size_t>(sample)]; }
  float value(std::int64_t sample) const { return values_[static_cast<std::size_t>(sample)]; }

  TextIdentity identity() const;  // reads all of it

 private:
  class Reader;

  LabelledText(std::int32_t vocabulary_size, bool pairs) : parts_(pairs ? 2 : 1), tokens_(vocabulary_size) {}
  std::int64_t begin_of(std::int64_t sample, std::int64_t part = 0) const {
    return begins_[static_cast<std::size_t>(sample * parts_ + part)];
  }

  std::int64_t parts_;  // sentences of a sample
  TokenArray tokens_;
  std::vector<std::int64_t> begins_{0};  // of each sentence in tokens_, and the end
  std::vector<std::int32_t> labels_;
  std::vector<float> values_;
  std::vector<std::string> classes_;
};

}  // namespace podium
