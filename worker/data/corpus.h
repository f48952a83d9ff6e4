// A corpus in memory as token ids: documents of sentences. Text files hold one sentence a line and a blank
// line between documents; the end of a file ends a document. Immutable once read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/model/text_identity.h"
#include "worker/data/reading.h"
#include "worker/data/token_array.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

class Corpus {
 public:
  // Reads `files` in order. Throws BadData where a file is unreadable or all of them hold no sentence.
  static Corpus read(const std::vector<std::filesystem::path>& files, const Tokenizer& tokenizer,
                     Reading& reading);

  std::int64_t documents() const { return static_cast<std::int64_t>(document_begin_.size()) - 1; }
  std::int64_t sentences() const { return static_cast<std::int64_t>(sentence_begin_.size()) - 1; }
  std::int64_t tokens() const { return static_cast<std::int64_t>(tokens_.size()); }

  // Documents that have one sentence only, whose pairs are always of two documents.
  std::int64_t lone_sentences() const;

  std::int64_t first_sentence(std::int64_t document) const { return document_begin_[index(document)]; }
  std::int64_t end_sentence(std::int64_t document) const { return document_begin_[index(document + 1)]; }
  std::int64_t sentence_length(std::int64_t sentence) const {
    return sentence_begin_[index(sentence + 1)] - sentence_begin_[index(sentence)];
  }
  void append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const;

  TextIdentity identity() const;  // reads all of it

  // How often each token id occurs.
  std::vector<std::int64_t> frequencies() const;
  std::int32_t vocabulary_size() const { return vocabulary_size_; }

 private:
  explicit Corpus(std::int32_t vocabulary_size)
      : vocabulary_size_(vocabulary_size), tokens_(vocabulary_size) {}
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  void add_sentence(std::span<const std::int32_t> ids);
  void end_document();

  std::int32_t vocabulary_size_;
  TokenArray tokens_;
  std::vector<std::int64_t> sentence_begin_{0};  // into tokens_, one more than there are sentences
  std::vector<std::int64_t> document_begin_{0};  // into sentences, one more than there are documents
};

}  // namespace podium
