// Records of comma-separated values, as RFC 4180 has them: a field in quotes may hold commas, line ends and
// doubled quotes. Records end at \n, \r\n or \r; blank lines are none. Quotes within a field that does not
// begin with one stand for themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

class CsvRecords {
 public:
  static constexpr std::size_t kMostFields = 10'000;  // of a record

  // `line`, counted from 1, is that of the record's beginning.
  using Sink = std::function<void(std::int64_t line, const std::vector<std::string>& fields)>;

  // Messages call the text `name`.
  CsvRecords(std::string name, Sink sink) : name_(std::move(name)), sink_(std::move(sink)) {}

  // Takes in the next part of the text, which may end anywhere. Throws BadData with the line where it is
  // malformed or a record is longer than kLongestLine.
  void add(std::string_view part);
  void end();

 private:
  enum class State { record_start, field_start, plain, quoted, quote_in_quoted };

  void take(char c);
  void take_unquoted(char c);
  void end_field();
  void end_record();
  [[noreturn]] void refuse(std::int64_t line, const std::string& why) const;

  std::string name_;
  Sink sink_;
  State state_ = State::record_start;
  bool after_return_ = false;  // a \n that follows belongs to it
  std::int64_t line_ = 1, record_line_ = 1, quote_line_ = 1;
  std::size_t bytes_ = 0;  // of the record
  std::string field_;
  std::vector<std::string> fields_;
};

}  // namespace podium
