#include "worker/tasks/classify/labelled_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "worker/data/xxh3.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

TableColumn table_column(const ColumnSpec& column) { return {column.name, column.number}; }

// A number of 32 bits; nothing where the label is none.
std::optional<float> value_of(std::string_view label) {
  float value = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
  if (error != std::errc{} || end != label.data() + label.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Numbers of classes: those that are given, or as they come.
class ClassNumbers {
 public:
  explicit ClassNumbers(const std::vector<std::string>& given) : given_(given) {
    for (const std::string& name : given) numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
  }

  std::int32_t number_of(std::string_view label, const fs::path& file, std::int64_t line) {
    if (const auto found = numbers_.find(label); found != numbers_.end()) return found->second;
    if (!given_.empty())
      refuse_row(
          file, line,
          fmt::format(
              "the label \"{}\" is none of training.classify.labels, or else of the training text's: {}",
              label, fmt::join(given_, ", ")));
    if (numbers_.size() == LabelledText::kMostClasses)
      refuse_row(file, line,
                 fmt::format(
                     "\"{}\" is the {}th label, and {} may differ; a label names a class, not a value (which "
                     "training.classify.regression is for)",
                     label, LabelledText::kMostClasses + 1, LabelledText::kMostClasses));
    return numbers_.emplace(label, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

  // Numbers those that were not given in the order of their bytes.
  std::vector<std::string> finish(std::vector<std::int32_t>& labels) const {
    if (!given_.empty()) return given_;
    std::vector<std::string> names;
    std::vector<std::int32_t> places(numbers_.size());
    for (const auto& [name, number] : numbers_) {
      places[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(names.size());
      names.push_back(name);
    }
    for (std::int32_t& label : labels) label = places[static_cast<std::size_t>(label)];
    return names;
  }

 private:
  const std::vector<std::string>& given_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace

TableForm table_form(const ClassifySpec& spec, bool with_label) {
  TableForm form{spec.header, {table_column(spec.sentence)}};
  if (spec.pair) form.columns.push_back(table_column(*spec.pair));
  if (with_label) form.columns.push_back(table_column(spec.label));
  return form;
}

SentenceTokens tokenize_row(const TableRow& row, const ClassifySpec& spec, const Tokenizer& tokenizer,
                            const fs::path& file) {
  SentenceTokens sentences{.is_pair = spec.pair.has_value()};
  const auto encode = [&](std::string_view text, const char* what, std::vector<std::int32_t>& ids) {
    if (is_blank(text)) refuse_row(file, row.line, std::string("has no ") + what);
    tokenizer.encode(text, ids);
    if (ids.empty()) refuse_row(file, row.line, std::string("has a ") + what + " without a token");
  };
  encode(row.cells[0], "sentence", sentences.first);
  if (sentences.is_pair) encode(row.cells[1], "second sentence", sentences.second);
  return sentences;
}

// Takes in one row after another.
class LabelledText::Reader {
 public:
  Reader(LabelledText& text, const ClassifySpec& spec, const Tokenizer& tokenizer,
         const std::vector<std::string>& classes)
      : text_(text), spec_(spec), tokenizer_(tokenizer), numbers_(classes) {}

  void take(const fs::path& file, const TableRow& row) {
    const SentenceTokens sentences = tokenize_row(row, spec_, tokenizer_, file);
    add(sentences.first);
    if (sentences.is_pair) add(sentences.second);
    const std::string_view label = row.cells.back();
    if (label.empty()) refuse_row(file, row.line, "has no label");
    if (find_control(label) != label.npos)
      refuse_row(file, row.line,
                 fmt::format("the label \"{}\" has a control character", without_controls(label)));
    if (label.front() == ' ' || label.back() == ' ')
      refuse_row(file, row.line, fmt::format("the label \"{}\" begins or ends with a space", label));
    if (!spec_.regression) return text_.labels_.push_back(numbers_.number_of(label, file, row.line));
    const std::optional<float> value = value_of(label);
    if (!value)
      refuse_row(file, row.line,
                 fmt::format("the label \"{}\" is no finite number, which training.classify.regression "
                             "predicts",
                             label));
    text_.values_.push_back(*value);
  }

  void finish() {
    if (!spec_.regression) text_.classes_ = numbers_.finish(text_.labels_);
  }

 private:
  void add(const std::vector<std::int32_t>& ids) {
    text_.tokens_.append(ids);
    text_.begins_.push_back(static_cast<std::int64_t>(text_.tokens_.size()));
  }

  LabelledText& text_;
  const ClassifySpec& spec_;
  const Tokenizer& tokenizer_;
  ClassNumbers numbers_;
};

LabelledText LabelledText::read(const std::vector<fs::path>& files, const ClassifySpec& spec,
                                const Tokenizer& tokenizer, Reading& reading,
                                const std::vector<std::string>& classes) {
  LabelledText text(tokenizer.size(), spec.pair.has_value());
  Reader reader(text, spec, tokenizer, classes);
  for (const fs::path& file : files) reading.expect(open_input(file).bytes);
  for (const fs::path& file : files)
    for_each_table_row(
        file, table_form(spec, true), [&](const TableRow& row) { reader.take(file, row); },
        [&](std::uint64_t bytes) { reading.advance(bytes); });
  reader.finish();
  const std::string first = files.front().string();
  if (text.size() == 0) throw BadData(first + ": holds no sentence with a label");
  if (!spec.regression && text.classes_.size() < 2)
    throw BadData(fmt::format("{}: every label is \"{}\"; there is nothing to tell apart", first,
                              text.classes_.front()));
  return text;
}

SentenceTokens LabelledText::sentences(std::int64_t sample) const {
  SentenceTokens sentences{.is_pair = parts_ == 2};
  const auto copy = [&](std::int64_t part, std::vector<std::int32_t>& ids) {
    for (std::int64_t i = begin_of(sample, part); i < begin_of(sample, part + 1); ++i)
      ids.push_back(tokens_[static_cast<std::size_t>(i)]);
  };
  copy(0, sentences.first);
  if (sentences.is_pair) copy(1, sentences.second);
  return sentences;
}

// Of single sentences with classes, what versions that knew no others kept in checkpoints.
TextIdentity LabelledText::identity() const {
  Xxh3 hash;
  hash.add(tokens_.bytes());
  hash.add(std::as_bytes(std::span(begins_)));
  hash.add(std::as_bytes(std::span(labels_)));
  hash.add(std::as_bytes(std::span(values_)));
  for (const std::string& name : classes_) hash.add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  return {static_cast<std::int64_t>(tokens_.size()), size(), hash.digest().xxh3};
}

}  // namespace podium
