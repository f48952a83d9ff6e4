#include "worker/data/corpus.h"

#include "worker/data/bad_data.h"
#include "worker/data/text_files.h"

namespace podium {

Corpus Corpus::read(const std::vector<std::filesystem::path>& files, const WordPieceTokenizer& tokenizer) {
  Corpus corpus(tokenizer.vocabulary().size());
  std::vector<std::int32_t> ids;
  std::string names;
  for (const std::filesystem::path& file : files) {
    for_each_line(file, [&](std::string_view line) {
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

void Corpus::append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const {
  const std::size_t end = index(sentence_begin_[index(sentence + 1)]);
  for (std::size_t i = index(sentence_begin_[index(sentence)]); i < end; ++i) ids.push_back(tokens_[i]);
}

std::vector<std::int64_t> Corpus::frequencies() const {
  std::vector<std::int64_t> counts(index(vocabulary_size_), 0);
  for (std::size_t i = 0; i < tokens_.size(); ++i) ++counts[index(tokens_[i])];
  return counts;
}

}  // namespace podium
