// CSV as RFC 4180 has it, read row by row: quoted fields may hold commas, quotes and line ends.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace podium::cli {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // of a text file of points

std::string csv_field(std::string_view text);  // in quotes where it needs them

class CsvReader {
 public:
  explicit CsvReader(std::istream& text);

  // False at the end, and where broken() says why not.
  bool next(std::vector<std::string>& fields);
  int line() const { return line_; }  // where the row begins, from 1
  const std::string& broken() const { return broken_; }

 private:
  bool take_field(std::string& field);  // whether another follows it
  bool take_quoted(std::string& field);

  std::istream& text_;
  std::size_t size_ = 0;  // of the row so far
  int line_ = 0, lines_read_ = 0;
  std::string broken_;
};

}  // namespace podium::cli
