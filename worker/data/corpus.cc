#include "worker/data/corpus.h"

#include "worker/data/xxh3.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"

namespace podium {

Corpus Corpus::read(const std::vector<std::filesystem::path>& files, const Tokenizer& tokenizer,
                    Reading& reading) {
  Corpus corpus(tokenizer.size());
  std::vector<std::int32_t> ids;
  std::string names;
  for (const std::filesystem::path& file : files) reading.expect(open_input(file).bytes);
  for (const std::filesystem::path& file : files) {
    for_each_line(file, [&](std::string_view line) {
      reading.advance(line.size() + 1);
      if (line.find_first_not_of(" \t") == std::string_view::npos) return corpus.end_document();
      ids.clear();
      tokenizer.encode(line, ids);
      corpus.add_sentence(ids);
    });
    corpus.end_document();
    names += (names.empty() ? "" : ", ") + file.string();
  }
  if (corpus.sentences() == 0)
    throw BadData("no sentence in " + names +
                  "; text needs one sentence a line and a blank line between documents");
  return corpus;
}

void Corpus::add_sentence(std::span<const std::int32_t> ids) {
  if (ids.empty()) return;
  tokens_.append(ids);
  sentence_begin_.push_back(tokens());
}

void Corpus::end_document() {
  if (sentences() > document_begin_.back()) document_begin_.push_back(sentences());
}

std::int64_t Corpus::lone_sentences() const {
  std::int64_t count = 0;
  for (std::int64_t document = 0; document < documents(); ++document)
    count += end_sentence(document) - first_sentence(document) == 1;
  return count;
}

void Corpus::append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const {
  const std::size_t end = index(sentence_begin_[index(sentence + 1)]);
  for (std::size_t i = index(sentence_begin_[index(sentence)]); i < end; ++i) ids.push_back(tokens_[i]);
}

TextIdentity Corpus::identity() const {
  Xxh3 hash;
  hash.add(std::as_bytes(std::span(&vocabulary_size_, 1)));
  hash.add(tokens_.bytes());
  hash.add(std::as_bytes(std::span(sentence_begin_)));
  hash.add(std::as_bytes(std::span(document_begin_)));
  return {tokens(), sentences(), hash.digest().xxh3};
}

std::vector<std::int64_t> Corpus::frequencies() const {
  std::vector<std::int64_t> counts(index(vocabulary_size_), 0);
  for (std::size_t i = 0; i < tokens_.size(); ++i) ++counts[index(tokens_[i])];
  return counts;
}

}  // namespace podium
