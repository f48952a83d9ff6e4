#include "worker/tasks/classify/labelled_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "worker/data/xxh3.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"

namespace podium {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

struct LabelledSentence {
  std::string_view sentence;
  std::string_view label;
};

// The lines of one file, by the columns that its first names.
class LabelledLines {
 public:
  explicit LabelledLines(const std::filesystem::path& path) : path_(path) {}

  // Nothing of the first line.
  std::optional<LabelledSentence> take(std::string_view line) {
    const std::vector<std::string_view> columns = split(line);
    if (++number_ == 1) {
      count_ = columns.size();
      sentence_ = column_named(columns, "sentence");
      label_ = column_named(columns, "label");
      return std::nullopt;
    }
    if (columns.size() != count_)
      refuse(fmt::format("has {} columns, and the first line names {}; they are separated by tabs",
                         columns.size(), count_));
    const LabelledSentence found{columns[sentence_], columns[label_]};
    if (found.label.empty()) refuse("has no label");
    if (found.sentence.find_first_not_of(' ') == std::string_view::npos) refuse("has no sentence");
    return found;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw BadData(fmt::format("{}:{}: {}", path_.string(), number_, why));
  }

 private:
  std::size_t column_named(const std::vector<std::string_view>& columns, std::string_view name) const {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end())
      refuse(
          fmt::format("names no column \"{}\"; the first line of labelled text names its columns, among "
                      "them \"sentence\" and \"label\", separated by tabs",
                      name));
    return static_cast<std::size_t>(found - columns.begin());
  }

  const std::filesystem::path& path_;
  std::int64_t number_ = 0;
  std::size_t count_ = 0, sentence_ = 0, label_ = 0;
};

// Numbers of classes: those that are given, or as they come.
class ClassNumbers {
 public:
  explicit ClassNumbers(const std::vector<std::string>& given) : open_(given.empty()) {
    for (const std::string& name : given) numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
  }

  std::int32_t number_of(std::string_view label, const LabelledLines& lines) {
    if (const auto found = numbers_.find(label); found != numbers_.end()) return found->second;
    if (!open_)
      lines.refuse(fmt::format("the label \"{}\" is none of the training text's: {}", label,
                               fmt::join(names(), ", ")));
    if (numbers_.size() == LabelledText::kMostClasses)
      lines.refuse(
          fmt::format("\"{}\" is the {}th label, and {} may differ; a label names a class, not a value",
                      label, LabelledText::kMostClasses + 1, LabelledText::kMostClasses));
    return numbers_.emplace(label, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> sorted;
    for (const auto& [name, number] : numbers_) sorted.push_back(name);
    return sorted;
  }

  void sort(std::vector<std::int32_t>& labels) const {
    std::vector<std::int32_t> places(numbers_.size());
    std::int32_t place = 0;
    for (const auto& [name, number] : numbers_) places[static_cast<std::size_t>(number)] = place++;
    for (std::int32_t& label : labels) label = places[static_cast<std::size_t>(label)];
  }

 private:
  bool open_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace

LabelledText LabelledText::read(const std::vector<std::filesystem::path>& files, const Tokenizer& tokenizer,
                                Reading& reading, const std::vector<std::string>& classes) {
  LabelledText text(tokenizer.size());
  ClassNumbers numbers(classes);
  std::vector<std::int32_t> ids;
  for (const std::filesystem::path& file : files) reading.expect(open_input(file).bytes);
  for (const std::filesystem::path& file : files) {
    LabelledLines lines(file);
    for_each_line(file, [&](std::string_view line) {
      reading.advance(line.size() + 1);
      const auto found = lines.take(line);
      if (!found) return;
      ids.clear();
      tokenizer.encode(found->sentence, ids);
      text.tokens_.append(ids);
      text.begins_.push_back(static_cast<std::int64_t>(text.tokens_.size()));
      text.labels_.push_back(numbers.number_of(found->label, lines));
    });
  }
  numbers.sort(text.labels_);
  text.classes_ = numbers.names();
  const std::string first = files.front().string();
  if (text.labels_.empty()) throw BadData(first + ": no sentence follows the line that names the columns");
  if (text.classes_.size() < 2)
    throw BadData(fmt::format("{}: every label is \"{}\"; there is nothing to tell apart", first,
                              text.classes_.front()));
  return text;
}

void LabelledText::append(std::int64_t sentence, std::int64_t most, std::vector<std::int32_t>& ids) const {
  const std::int64_t end = begin_of(sentence) + std::min(most, length(sentence));
  for (std::int64_t i = begin_of(sentence); i < end; ++i) ids.push_back(tokens_[static_cast<std::size_t>(i)]);
}

TextIdentity LabelledText::identity() const {
  Xxh3 hash;
  hash.add(tokens_.bytes());
  hash.add(std::as_bytes(std::span(begins_)));
  hash.add(std::as_bytes(std::span(labels_)));
  for (const std::string& name : classes_) hash.add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  return {static_cast<std::int64_t>(tokens_.size()), size(), hash.digest().xxh3};
}

}  // namespace podium
