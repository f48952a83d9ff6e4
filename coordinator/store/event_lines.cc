#include "coordinator/store/event_lines.h"

#include <charconv>
#include <limits>

namespace podium {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool take(char wanted) {
    skip_space();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }

  // A string of printable ASCII without escapes.
  bool take_string(std::string_view& out) {
    if (!take('"')) return false;
    const char* begin = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_)
      if (*at_ < 0x20 || *at_ > 0x7e || *at_ == '\\') return false;
    if (at_ == end_) return false;
    out = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  template <class Number>
  bool take_number(Number& out) {
    skip_space();
    const char* digits = at_ != end_ && *at_ == '-' ? at_ + 1 : at_;
    if (digits == end_ || *digits < '0' || *digits > '9') return false;
    const auto [end, error] = std::from_chars(at_, end_, out);
    if (error != std::errc{}) return false;
    at_ = end;
    return true;
  }

  // An object, unread; without braces in its strings.
  bool skip_object() {
    if (!take('{')) return false;
    for (int depth = 1; depth > 0; ++at_) {
      if (at_ == end_ || *at_ == '\\') return false;
      depth += *at_ == '{' ? 1 : *at_ == '}' ? -1 : 0;
    }
    return true;
  }

  bool at_end() {
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  const char* at_;
  const char* end_;
};

bool take_value(Cursor& cursor, double& out) {
  if (cursor.take_number(out)) return true;
  std::string_view name;
  if (!cursor.take_string(name)) return false;
  if (name == "NaN")
    out = std::numeric_limits<double>::quiet_NaN();
  else if (name == "Infinity")
    out = std::numeric_limits<double>::infinity();
  else if (name == "-Infinity")
    out = -std::numeric_limits<double>::infinity();
  else
    return false;
  return true;
}

bool take_values(Cursor& cursor, MetricsLine& out) {
  out.values.clear();
  if (!cursor.take('{')) return false;
  if (cursor.take('}')) return true;
  do {
    std::string_view key;
    double value = 0;
    if (!cursor.take_string(key) || !cursor.take(':') || !take_value(cursor, value)) return false;
    out.values.emplace_back(key, value);
  } while (cursor.take(','));
  return cursor.take('}');
}

bool take_type(Cursor& cursor) {
  std::string_view type;
  return cursor.take_string(type) && type == "metrics";
}

}  // namespace

bool parse_metrics_line(std::string_view line, MetricsLine& out) {
  Cursor cursor(line);
  enum Field { type = 1, time = 2, step = 4, values = 8, all = 15, read = 16 };
  int seen = 0;
  if (!cursor.take('{')) return false;
  do {
    std::string_view name;
    if (!cursor.take_string(name) || !cursor.take(':')) return false;
    Field field;
    bool good = false;
    if (name == "type")
      field = type, good = take_type(cursor);
    else if (name == "t")
      field = time, good = cursor.take_number(out.time_ms);
    else if (name == "step")
      field = step, good = cursor.take_number(out.step);
    else if (name == "values")
      field = values, good = take_values(cursor, out);
    else if (name == "read")
      field = read, good = cursor.skip_object();
    else
      return false;
    if (!good || (seen & field)) return false;
    seen |= field;
  } while (cursor.take(','));
  return cursor.take('}') && cursor.at_end() && (seen & all) == all;
}

}  // namespace podium
