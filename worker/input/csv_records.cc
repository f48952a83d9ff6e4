#include "worker/input/csv_records.h"

#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"

namespace podium {

void CsvRecords::refuse(std::int64_t line, const std::string& why) const {
  throw BadData(name_ + ":" + std::to_string(line) + ": " + why);
}

void CsvRecords::add(std::string_view part) {
  for (const char c : part) take(c);
}

void CsvRecords::end() {
  if (state_ == State::quoted) refuse(quote_line_, "a quote that opens a field is never closed");
  if (state_ != State::record_start) end_record();
}

void CsvRecords::take(char c) {
  const bool rest_of_return = after_return_ && c == '\n';
  after_return_ = c == '\r';
  if (c == '\r' || (c == '\n' && !rest_of_return)) ++line_;
  if (state_ == State::quoted) {
    if (c == '"')
      state_ = State::quote_in_quoted;
    else
      field_ += c;
  } else if (!rest_of_return) {
    take_unquoted(c);
  }
  if (++bytes_ > kLongestLine)
    refuse(record_line_,
           "the record is longer than " + std::to_string(kLongestLine >> 20) + " MiB; is a quote left open?");
}

void CsvRecords::take_unquoted(char c) {
  if (c == '\r' || c == '\n') {
    if (state_ != State::record_start) end_record();
    record_line_ = line_;
    bytes_ = 0;
  } else if (c == ',') {
    end_field();
  } else if (c == '"' && state_ == State::quote_in_quoted) {
    field_ += c;
    state_ = State::quoted;
  } else if (state_ == State::quote_in_quoted) {
    refuse(line_,
           "a comma or a line end must follow the quote that closes a field; quotes within one are doubled");
  } else if (c == '"' && state_ != State::plain) {
    state_ = State::quoted;
    quote_line_ = line_;
  } else {
    field_ += c;
    state_ = State::plain;
  }
}

void CsvRecords::end_field() {
  if (fields_.size() == kMostFields)
    refuse(record_line_, "the record has more than " + std::to_string(kMostFields) + " fields");
  fields_.push_back(std::move(field_));
  field_.clear();
  state_ = State::field_start;
}

void CsvRecords::end_record() {
  end_field();
  sink_(record_line_, fields_);
  fields_.clear();
  state_ = State::record_start;
}

}  // namespace podium
