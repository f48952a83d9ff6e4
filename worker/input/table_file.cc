#include "worker/input/table_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "worker/input/bad_data.h"
#include "worker/input/csv_records.h"
#include "worker/input/json_object.h"
#include "worker/input/packed_text.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

using Path = std::filesystem::path;
using Sink = std::function<void(const TableRow&)>;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kReadTogether = std::size_t{1} << 18;  // bytes

// The text of the file, unpacked, without a byte order mark.
class TableText {
 public:
  TableText(const Path& file, const std::function<void(std::uint64_t)>& advance)
      : text_(file), advance_(advance) {}

  std::size_t read(std::span<char> to) {
    std::size_t got = text_.read(to);
    if (first_) {
      first_ = false;
      while (got > 0 && got < kByteOrderMark.size()) {
        const std::size_t more = text_.read(to.subspan(got));
        if (more == 0) break;
        got += more;
      }
      if (std::string_view(to.data(), got).starts_with(kByteOrderMark)) {
        got -= kByteOrderMark.size();
        std::copy_n(to.begin() + kByteOrderMark.size(), got, to.begin());
        if (got == 0) got = text_.read(to);
      }
    }
    return got;
  }

  void tell() {
    if (advance_) advance_(text_.packed_bytes_read() - told_);
    told_ = text_.packed_bytes_read();
  }

 private:
  PackedText text_;
  const std::function<void(std::uint64_t)>& advance_;
  std::uint64_t told_ = 0;
  bool first_ = true;
};

std::string listed(const std::vector<std::string_view>& names) {
  constexpr std::size_t kMost = 200;
  std::string text;
  for (const std::string_view name : names) {
    if (text.size() > kMost) return text + ", …";
    text += (text.empty() ? "" : ", ") + std::string(name.substr(0, kMost));
  }
  return text;
}

// Lines of cells, of which the form wants some.
class CellRows {
 public:
  CellRows(const Path& file, const TableForm& form, const char* separated, const Sink& sink)
      : file_(file), form_(form), separated_(separated), sink_(sink) {}

  void take(std::int64_t line, const std::vector<std::string_view>& cells) {
    if (count_ == 0) {
      count_ = cells.size();
      for (const TableColumn& column : form_.columns) add_place(place_of(column, line, cells), line);
      if (form_.header) return;
    }
    if (cells.size() != count_)
      refuse_row(file_, line,
                 "has " + std::to_string(cells.size()) + " columns, and the first line has " +
                     std::to_string(count_) + "; they are separated by " + separated_);
    row_.line = line;
    row_.cells.clear();
    for (const std::size_t place : places_) row_.cells.push_back(cells[place]);
    sink_(row_);
  }

 private:
  void add_place(std::size_t place, std::int64_t line) {
    if (std::ranges::find(places_, place) != places_.end())
      refuse_row(file_, line,
                 "has one column of number " + std::to_string(place + 1) + ", and it is asked for twice");
    places_.push_back(place);
  }

  std::size_t place_of(const TableColumn& column, std::int64_t line,
                       const std::vector<std::string_view>& cells) const {
    if (column.number > 0) {
      if (static_cast<std::size_t>(column.number) <= cells.size())
        return static_cast<std::size_t>(column.number) - 1;
      refuse_row(file_, line,
                 "has " + std::to_string(cells.size()) + " columns and none of number " +
                     std::to_string(column.number) + "; they are separated by " + separated_);
    }
    const auto found = std::ranges::find(cells, column.name);
    if (found == cells.end())
      refuse_row(file_, line,
                 "names no column \"" + column.name + "\", but " + listed(cells) +
                     "; the first line names the columns, separated by " + separated_);
    if (std::find(found + 1, cells.end(), column.name) != cells.end())
      refuse_row(file_, line, "names two columns \"" + column.name + "\"");
    return static_cast<std::size_t>(found - cells.begin());
  }

  const Path& file_;
  const TableForm& form_;
  const char* separated_;
  const Sink& sink_;
  std::size_t count_ = 0;  // of columns; 0: no line was seen yet
  std::vector<std::size_t> places_;
  TableRow row_;
};

void read_tsv(const Path& file, const TableForm& form, TableText& text, const Sink& sink) {
  CellRows rows(file, form, "tabs", sink);
  std::vector<std::string_view> cells;
  std::int64_t number = 0;
  for_each_line([&](std::span<char> to) { return text.read(to); }, file.string(),
                [&](std::string_view line) {
                  ++number;
                  if (line.empty()) return;
                  cells.clear();
                  for (std::size_t begin = 0; begin <= line.size();) {
                    const std::size_t end = std::min(line.find('\t', begin), line.size());
                    if (cells.size() == CsvRecords::kMostFields)
                      refuse_row(file, number, "has more than " + std::to_string(cells.size()) + " columns");
                    cells.push_back(line.substr(begin, end - begin));
                    begin = end + 1;
                  }
                  rows.take(number, cells);
                  text.tell();
                });
}

void read_csv(const Path& file, const TableForm& form, TableText& text, const Sink& sink) {
  CellRows rows(file, form, "commas", sink);
  std::vector<std::string_view> cells;
  CsvRecords records(file.string(), [&](std::int64_t line, const std::vector<std::string>& fields) {
    for (const std::string& field : fields)
      if (find_invalid_utf8(field) != std::string_view::npos)
        refuse_row(file, line, "is not UTF-8; convert the file (for example with iconv)");
    cells.assign(fields.begin(), fields.end());
    rows.take(line, cells);
    text.tell();
  });
  std::vector<char> part(kReadTogether);
  while (const std::size_t got = text.read(part)) records.add({part.data(), got});
  records.end();
}

// Members that are text, numbers, or true and false, as text.
class JsonRows {
 public:
  JsonRows(const Path& file, const TableForm& form, const Sink& sink)
      : file_(file), form_(form), sink_(sink) {
    for (const TableColumn& column : form.columns)
      if (column.number > 0)
        throw BadData(file.string() + ": the members of JSON's objects have names, and column " +
                      std::to_string(column.number) + " has none; name it");
  }

  void take(std::int64_t line, std::string_view text) {
    const nlohmann::json object = parse_json_object(text, file_.string() + ":" + std::to_string(line));
    values_.clear();
    for (const TableColumn& column : form_.columns) values_.push_back(value_of(object, column.name, line));
    row_ = {line, {values_.begin(), values_.end()}};
    sink_(row_);
  }

 private:
  std::string value_of(const nlohmann::json& object, const std::string& name, std::int64_t line) const {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) refuse_row(file_, line, "has no member \"" + name + "\"");
    if (found->is_structured())
      refuse_row(file_, line, "has a list or an object as \"" + name + "\", which must be text or a number");
    // What is no whole number of 64 bits is read as a double.
    if (found->is_number_float() && std::abs(found->get<double>()) >= 0x1p53)
      refuse_row(file_, line, "has a number as \"" + name + "\" that loses digits; put it in quotes");
    return found->is_string() ? found->get<std::string>() : found->dump();
  }

  const Path& file_;
  const TableForm& form_;
  const Sink& sink_;
  std::vector<std::string> values_;
  TableRow row_;
};

void read_jsonl(const Path& file, const TableForm& form, TableText& text, const Sink& sink) {
  JsonRows rows(file, form, sink);
  std::int64_t number = 0;
  for_each_line([&](std::span<char> to) { return text.read(to); }, file.string(),
                [&](std::string_view line) {
                  ++number;
                  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
                  rows.take(number, line);
                  text.tell();
                });
}

}  // namespace

void refuse_row(const Path& file, std::int64_t line, const std::string& why) {
  throw BadData(file.string() + ":" + std::to_string(line) + ": " + why);
}

void for_each_table_row(const Path& file, const TableForm& form, const Sink& sink,
                        const std::function<void(std::uint64_t bytes)>& advance) {
  const bool packed = file.extension() == ".gz" || file.extension() == ".zst";
  const std::string ending = (packed ? file.stem() : file).extension().string();
  TableText text(file, advance);
  if (ending == ".csv")
    read_csv(file, form, text, sink);
  else if (ending == ".jsonl")
    read_jsonl(file, form, text, sink);
  else
    read_tsv(file, form, text, sink);
  text.tell();
}

}  // namespace podium
