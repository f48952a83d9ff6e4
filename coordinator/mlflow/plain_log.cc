#include "coordinator/mlflow/plain_log.h"

#include <charconv>
#include <utility>

#include "coordinator/mlflow/names.h"

namespace podium::mlflow {
namespace {

// Reads JSON of printable ASCII without escapes. After a failure all reads fail.
class Reading {
 public:
  explicit Reading(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool failed() const { return failed_; }

  // Skips the character where it is next.
  bool next_is(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!next_is(c)) fail();
  }

  std::string_view text() {
    expect('"');
    const char* const begin = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && *at_ >= 0x20 && *at_ < 0x7f) ++at_;
    if (failed_ || at_ == end_ || *at_ != '"') return fail(), std::string_view();
    return {begin, static_cast<std::size_t>(at_++ - begin)};
  }

  template <class Number>
  Number number() {
    skip_space();
    Number value{};
    const auto [end, error] = std::from_chars(at_, end_, value);
    const bool ends = end != end_ && (*end == ',' || *end == '}' || *end == ' ');
    if (error != std::errc() || !ends || !is_plain({at_, static_cast<std::size_t>(end - at_)})) fail();
    if (!failed_) at_ = end;
    return failed_ ? Number{} : value;
  }

  bool at_end() {
    skip_space();
    return at_ == end_ && !failed_;
  }

  void fail() {
    failed_ = true;
    at_ = end_;
  }

 private:
  // As JSON has it: neither 007 nor "1." nor inf.
  static bool is_plain(std::string_view number) {
    if (number.starts_with('-')) number.remove_prefix(1);
    const auto digit = [&](std::size_t i) {
      return i < number.size() && number[i] >= '0' && number[i] <= '9';
    };
    const std::size_t point = number.find('.');
    return digit(0) && !(number[0] == '0' && digit(1)) &&
           (point == std::string_view::npos || digit(point + 1));
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

// member(name) for each of an object's.
template <class Member>
void each_member(Reading& reading, const Member& member) {
  reading.expect('{');
  if (reading.next_is('}')) return;
  do {
    const std::string_view name = reading.text();
    reading.expect(':');
    member(name);
  } while (!reading.failed() && reading.next_is(','));
  reading.expect('}');
}

// The parts of a point that an object had, each at most once.
struct Parts {
  bool key = false, value = false, time = false, step = false;

  bool whole() const { return key && value && time; }
};

void first(bool& seen, Reading& reading) {
  if (std::exchange(seen, true)) reading.fail();
}

bool read_part(Reading& reading, std::string_view name, Parts& parts, RunPoint& point) {
  if (name == "key") {
    first(parts.key, reading);
    point.key = reading.text();
  } else if (name == "value") {
    first(parts.value, reading);
    point.value = reading.number<double>();
  } else if (name == "timestamp") {
    first(parts.time, reading);
    point.time_ms = reading.number<std::int64_t>();
  } else if (name == "step") {
    first(parts.step, reading);
    point.step = reading.number<std::int64_t>();
  } else {
    return false;
  }
  return true;
}

bool read_run(Reading& reading, std::string_view name, std::string& run_id) {
  if (name != "run_id" && name != "run_uuid") return false;
  const std::string_view id = reading.text();
  if (!run_id.empty() && run_id != id) reading.fail();
  run_id = id;
  return true;
}

bool may_be(const Parts& parts, const RunPoint& point) {
  return parts.whole() && point.time_ms >= 0 && !point.key.empty() && wrong_key("", point.key).empty();
}

void read_points(Reading& reading, std::vector<RunPoint>& points) {
  reading.expect('[');
  if (reading.next_is(']')) return;
  do {
    RunPoint& point = points.emplace_back();
    Parts parts;
    each_member(reading, [&](std::string_view name) {
      if (!read_part(reading, name, parts, point)) reading.fail();
    });
    if (!may_be(parts, point)) reading.fail();
  } while (!reading.failed() && reading.next_is(','));
  reading.expect(']');
}

}  // namespace

std::optional<PlainLog> read_plain_metric(std::string_view body) {
  PlainLog log;
  RunPoint& point = log.points.emplace_back();
  Parts parts;
  Reading reading(body);
  each_member(reading, [&](std::string_view name) {
    if (!read_run(reading, name, log.run_id) && !read_part(reading, name, parts, point)) reading.fail();
  });
  if (!reading.at_end() || log.run_id.empty() || !may_be(parts, point)) return std::nullopt;
  return log;
}

std::optional<PlainLog> read_plain_batch(std::string_view body) {
  PlainLog log;
  bool seen = false;
  Reading reading(body);
  each_member(reading, [&](std::string_view name) {
    if (name == "metrics") {
      first(seen, reading);
      read_points(reading, log.points);
    } else if (name == "params" || name == "tags") {
      reading.expect('[');
      reading.expect(']');
    } else if (!read_run(reading, name, log.run_id)) {
      reading.fail();
    }
  });
  if (!reading.at_end() || log.run_id.empty() || log.points.size() > kMostBatchMetrics) return std::nullopt;
  return log;
}

}  // namespace podium::mlflow
