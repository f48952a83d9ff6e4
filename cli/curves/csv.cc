#include "cli/curves/csv.h"

namespace podium::cli {
namespace {

constexpr int kEnd = std::istream::traits_type::eof();

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

CsvReader::CsvReader(std::istream& text) : text_(text) {
  if (text_.peek() != 0xef) return;  // a byte order mark, which spreadsheets write
  for (int i = 0; i < 3; ++i) text_.get();
}

bool CsvReader::take_quoted(std::string& field) {
  text_.get();
  for (int c = text_.get(); c != kEnd; c = text_.get()) {
    if (c == '"' && text_.peek() != '"') return true;
    if (c == '"') text_.get();
    if (c == '\n') ++lines_read_;
    field += static_cast<char>(c);
    if (++size_ > kLongestLine) break;
  }
  broken_ = size_ > kLongestLine ? "a row of more than 1 MiB" : "a quote that is not closed";
  return false;
}

bool CsvReader::take_field(std::string& field) {
  if (text_.peek() == '"' && !take_quoted(field)) return false;
  for (int c = text_.get(); c != kEnd; c = text_.get()) {
    if (c == ',') return true;
    if (c == '\n') break;
    if (c != '\r' || text_.peek() != '\n') field += static_cast<char>(c);
    if (++size_ <= kLongestLine) continue;
    broken_ = "a row of more than 1 MiB";
    return false;
  }
  ++lines_read_;
  return false;
}

bool CsvReader::next(std::vector<std::string>& fields) {
  while (broken_.empty() && text_.peek() != kEnd) {
    fields.assign(1, "");
    size_ = 0;
    line_ = lines_read_ + 1;
    while (take_field(fields.back())) fields.emplace_back();
    const bool blank = fields.size() == 1 && fields.front().empty();
    if (!blank) return broken_.empty();
  }
  return false;
}

}  // namespace podium::cli
