#include "worker/data/corpus.h"

#include <algorithm>
#include <array>
#include <utility>

#include "worker/data/data_files.h"
#include "worker/data/xxh3.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"

namespace podium {
namespace {

constexpr std::int64_t kMostSentencesCounted = std::int64_t{1} << 22;

}  // namespace

void CorpusText::add_file(const std::filesystem::path& file, const Tokenizer& tokenizer, Reading& reading) {
  std::vector<std::int32_t> ids;
  for_each_line(file, [&](std::string_view line) {
    reading.advance(line.size() + 1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return end_document();
    ids.clear();
    tokenizer.encode(line, ids);
    add_sentence(ids);
  });
  end_document();
}

void CorpusText::add_sentence(std::span<const std::int32_t> ids) {
  if (ids.empty()) return;
  tokens_.append(ids);
  sentence_begin_.push_back(tokens());
}

void CorpusText::end_document() {
  if (sentences() > document_begin_.back()) document_begin_.push_back(sentences());
}

void CorpusText::append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const {
  const auto at = static_cast<std::size_t>(sentence);
  const auto end = static_cast<std::size_t>(sentence_begin_[at + 1]);
  for (auto i = static_cast<std::size_t>(sentence_begin_[at]); i < end; ++i) ids.push_back(tokens_[i]);
}

void CorpusText::add_to(Xxh3& hash) const {
  hash.add(tokens_.bytes());
  hash.add(std::as_bytes(std::span(sentence_begin_)));
  hash.add(std::as_bytes(std::span(document_begin_)));
}

CorpusData::CorpusData(const std::filesystem::path& bin, std::int32_t vocabulary_size)
    : data_(bin), vocabulary_size_(vocabulary_size) {
  for (std::int64_t i = 0; i < documents(); ++i)
    if (document_sentence(i) == document_sentence(i + 1))
      throw BadData(bin.string() + ": document " + std::to_string(i) + " has no sentence");
  for (std::int64_t i = 0; i < sentences(); ++i)
    if (sentence_length(i) == 0)
      throw BadData(bin.string() + ": sentence " + std::to_string(i) + " has no token");
}

void CorpusData::append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const {
  const std::size_t used = ids.size();
  ids.resize(used + static_cast<std::size_t>(sentence_length(sentence)));
  data_.read(data_.sequence_token(sentence), vocabulary_size_, std::span(ids).subspan(used));
}

Corpus Corpus::read(const std::vector<std::filesystem::path>& files, const Tokenizer& tokenizer,
                    Reading& reading) {
  Corpus corpus(tokenizer.size());
  std::string names;
  for (const std::filesystem::path& file : files)
    if (!is_megatron(file)) reading.expect(open_input(file).bytes);
  CorpusText text(tokenizer.size());
  const auto end_text = [&] {
    if (text.sentences() > 0) corpus.add(std::exchange(text, CorpusText(tokenizer.size())));
  };
  for (const std::filesystem::path& file : files) {
    names += (names.empty() ? "" : ", ") + file.string();
    if (is_megatron(file)) {
      end_text();
      if (CorpusData data(file, tokenizer.size()); data.sentences() > 0) corpus.add(std::move(data));
    } else {
      text.add_file(file, tokenizer, reading);
    }
  }
  end_text();
  if (corpus.parts_.empty())
    throw BadData("no sentence in " + names +
                  "; text needs one sentence a line and a blank line between documents");
  return corpus;
}

void Corpus::add(std::variant<CorpusText, CorpusData> content) {
  const std::int64_t document = parts_.empty() ? 0 : documents();
  const std::int64_t sentence = parts_.empty() ? 0 : sentences();
  const auto [more_documents, more_sentences, more_tokens] = std::visit(
      [](const auto& part) {
        return std::array{part.documents(), part.sentences(), part.tokens()};
      },
      content);
  parts_.push_back(
      {std::move(content), document, document + more_documents, sentence, sentence + more_sentences});
  tokens_ += more_tokens;
}

const Corpus::Part& Corpus::part_of_sentence(std::int64_t sentence) const {
  return *std::ranges::upper_bound(parts_, sentence, {}, &Part::end_sentence);
}

// Where document `document` + `ahead` would begin if it were of the same part.
std::int64_t Corpus::edge(std::int64_t document, std::int64_t ahead) const {
  const Part& part = *std::ranges::upper_bound(parts_, document, {}, &Part::end_document);
  return part.first_sentence + std::visit(
                                   [&](const auto& content) {
                                     return content.document_sentence(document - part.first_document + ahead);
                                   },
                                   part.content);
}

std::int64_t Corpus::sentence_length(std::int64_t sentence) const {
  const Part& part = part_of_sentence(sentence);
  return std::visit(
      [&](const auto& content) { return content.sentence_length(sentence - part.first_sentence); },
      part.content);
}

void Corpus::append_sentence(std::int64_t sentence, std::vector<std::int32_t>& ids) const {
  const Part& part = part_of_sentence(sentence);
  std::visit([&](const auto& content) { content.append_sentence(sentence - part.first_sentence, ids); },
             part.content);
}

std::int64_t Corpus::lone_sentences() const {
  std::int64_t count = 0;
  for (std::int64_t document = 0; document < documents(); ++document)
    count += end_sentence(document) - first_sentence(document) == 1;
  return count;
}

TextIdentity Corpus::identity() const {
  Xxh3 hash;
  hash.add(std::as_bytes(std::span(&vocabulary_size_, 1)));
  for (const Part& part : parts_)
    std::visit([&](const auto& content) { content.add_to(hash); }, part.content);
  return {tokens(), sentences(), hash.digest().xxh3};
}

std::vector<std::int64_t> Corpus::frequencies() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary_size_), 0);
  std::vector<std::int32_t> ids;
  const std::int64_t stride = 1 + (sentences() - 1) / kMostSentencesCounted;
  for (std::int64_t sentence = 0; sentence < sentences(); sentence += stride) {
    ids.clear();
    append_sentence(sentence, ids);
    for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

}  // namespace podium
