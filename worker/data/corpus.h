// A corpus as token ids: documents of sentences. Text files hold one sentence a line and a blank line between
// documents; the end of a file ends a document; they are encoded into memory. Megatron data
// (megatron_data.h), whose sequences are the sentences, stay in their file. Immutable once read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/model/text_identity.h"
#include "worker/data/megatron_data.h"
#include "worker/data/reading.h"
#include "worker/data/token_array.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

// Documents and sentences of text files, in memory.
class CorpusText {
 public:
  explicit CorpusText(std::int32_t vocabulary_size) : tokens_(vocabulary_size) {}
  void add_file(const std::filesystem::path& file, const Tokenizer& tokenizer, Reading& reading);

  std::int64_t documents() const { return std::ssize(document_begin_) - 1; }
  std::int64_t sentences() const { return std::ssize(sentence_begin_) - 1; }
  std::int64_t tokens() const { return static_cast<std::int64_t>(tokens_.size()); }
  // Its first; documents() gives sentences().
  std::int64_t document_sentence(std::int64_t document) const {
    return document_begin_[static_cast<std::size_t>(document)];
  }
  std::int32_t sentence_length(std::int64_t sentence) const {
    const auto i = static_cast<std::size_t>(sentence);
    return static_cast<std::int32_t>(sentence_begin_[i + 1] - sentence_begin_[i]);
  }
  void append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const;
  void add_to(Xxh3& hash) const;

 private:
  void add_sentence(std::span<const std::int32_t> ids);
  void end_document();

  TokenArray tokens_;
  std::vector<std::int64_t> sentence_begin_{0};  // into tokens_, one more than there are sentences
  std::vector<std::int64_t> document_begin_{0};  // into sentences, one more than there are documents
};

// Documents of sentences in Megatron data.
class CorpusData {
 public:
  // Throws BadData, also where a sentence or document is empty.
  CorpusData(const std::filesystem::path& bin, std::int32_t vocabulary_size);

  std::int64_t documents() const { return data_.documents(); }
  std::int64_t sentences() const { return data_.sequences(); }
  std::int64_t tokens() const { return data_.size(); }
  std::int64_t document_sentence(std::int64_t document) const { return data_.document_sequence(document); }
  std::int32_t sentence_length(std::int64_t sentence) const { return data_.sequence_length(sentence); }
  // Throws BadData where a token is none of the vocabulary's.
  void append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const;
  void add_to(Xxh3& hash) const { data_.add_to(hash); }

 private:
  MegatronData data_;
  std::int32_t vocabulary_size_;
};

class Corpus {
 public:
  // Reads `files` in order. Throws BadData where a file is unreadable or all of them hold no sentence.
  static Corpus read(const std::vector<std::filesystem::path>& files, const Tokenizer& tokenizer,
                     Reading& reading);

  std::int64_t documents() const { return parts_.back().end_document; }
  std::int64_t sentences() const { return parts_.back().end_sentence; }
  std::int64_t tokens() const { return tokens_; }

  // Documents that have one sentence only, whose pairs are always of two documents.
  std::int64_t lone_sentences() const;

  std::int64_t first_sentence(std::int64_t document) const { return edge(document, 0); }
  std::int64_t end_sentence(std::int64_t document) const { return edge(document, 1); }
  std::int64_t sentence_length(std::int64_t sentence) const;
  void append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const;

  TextIdentity identity() const;  // reads all of the text

  // How often each token id occurs; of many sentences an even choice is counted.
  std::vector<std::int64_t> frequencies() const;
  std::int32_t vocabulary_size() const { return vocabulary_size_; }

 private:
  // Documents and sentences of the whole corpus.
  struct Part {
    std::variant<CorpusText, CorpusData> content;
    std::int64_t first_document = 0;
    std::int64_t end_document = 0;
    std::int64_t first_sentence = 0;
    std::int64_t end_sentence = 0;
  };

  explicit Corpus(std::int32_t vocabulary_size) : vocabulary_size_(vocabulary_size) {}
  void add(std::variant<CorpusText, CorpusData> content);
  const Part& part_of_sentence(std::int64_t sentence) const;
  std::int64_t edge(std::int64_t document, std::int64_t ahead) const;

  std::int32_t vocabulary_size_;
  std::int64_t tokens_ = 0;
  std::vector<Part> parts_;
};

}  // namespace podium
