// Sentences with a class each, in the form of GLUE's SST-2: files of columns separated by tabs, whose first
// line names the columns, among them "sentence" and "label". A label is any text; classes are numbered in the
// order of their bytes. Immutable once read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/text_identity.h"
#include "worker/data/reading.h"
#include "worker/data/token_array.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

class LabelledText {
 public:
  static constexpr std::size_t kMostClasses = 1000;

  // Reads `files` in order. A label must be one of `classes`; if that is empty, the classes are the labels
  // that occur, at least two. Throws BadData, which names file and line.
  static LabelledText read(const std::vector<std::filesystem::path>& files, const Tokenizer& tokenizer,
                           Reading& reading, const std::vector<std::string>& classes = {});

  std::int64_t size() const { return static_cast<std::int64_t>(labels_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  std::int32_t label(std::int64_t sentence) const { return labels_[static_cast<std::size_t>(sentence)]; }
  std::int64_t length(std::int64_t sentence) const { return begin_of(sentence + 1) - begin_of(sentence); }
  // Appends the sentence's tokens, `most` of them at most.
  void append(std::int64_t sentence, std::int64_t most, std::vector<std::int32_t>& ids) const;

  TextIdentity identity() const;  // reads all of it

 private:
  explicit LabelledText(std::int32_t vocabulary_size) : tokens_(vocabulary_size) {}
  std::int64_t begin_of(std::int64_t sentence) const { return begins_[static_cast<std::size_t>(sentence)]; }

  TokenArray tokens_;
  std::vector<std::int64_t> begins_{0};  // into tokens_, one more than there are sentences
  std::vector<std::int32_t> labels_;
  std::vector<std::string> classes_;
};

}  // namespace podium
