#include "cli/log_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;

constexpr std::int64_t kTail = -1;
constexpr std::int64_t kUsualBytes = 64 * 1024;  // of all sources together
constexpr std::int64_t kLeastBytes = 2 * 1024;   // of one
constexpr auto kQuiet =
    std::chrono::milliseconds(300);  // agents deliver more often than so, and twice is a second look
constexpr int kQuietLooks = 2;

std::vector<int> ranks_of(const json& job, int attempt) {
  std::vector<int> ranks;
  for (const json& each : job.value("attempts", json::array()))
    if (integer_field(each, "number") == attempt)
      for (const json& task : each.value("tasks", json::array()))
        ranks.push_back(static_cast<int>(integer_field(task, "rank")));
  return ranks.empty() ? std::vector<int>{0} : ranks;
}

}  // namespace

std::optional<Tail> parse_tail(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;  // of what an int64 holds
  Tail tail;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (number && text.size() <= kMostDigits) tail.lines = std::stoll(text);
  if (!number)
    if (const auto size = parse_size(text)) tail.bytes = static_cast<std::int64_t>(*size);
  return tail.lines || tail.bytes ? std::optional(tail) : std::nullopt;
}

awaitable<bool> LogReader::read(Connection& connection, json job) {
  const int attempt = wish_.attempt.value_or(static_cast<int>(integer_field(job, "attempt")));
  if (attempt == 0) {
    from_tail_ = false;  // of what comes nothing is left out
    co_return false;
  }
  const std::int64_t id = integer_field(job, "id");
  bool any = false;
  if (attempt != attempt_) {
    if (!sources_.empty()) any = co_await read_on(connection, id);  // what the one before still wrote
    finish();
    begin(job, attempt);
  }
  const bool more = co_await read_on(connection, id);
  show_unended();
  co_return any || more;
}

awaitable<bool> LogReader::read_rest(Connection& connection, json job) {
  bool any = co_await read(connection, job);
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (int quiet = 0; quiet < kQuietLooks; ++quiet) {
    pause.expires_after(kQuiet);
    co_await pause.async_wait(asio::use_awaitable);
    const bool more = co_await read(connection, job);
    any = any || more;
    if (more) quiet = -1;
  }
  co_return any;
}

// What is said of a rank that the attempt does not have; "" of one that it has. The attempts are told where
// they can be.
std::string LogReader::lacks_rank(const json& job) const {
  const std::int64_t id = integer_field(job, "id"), attempts = integer_field(job, "attempt");
  if (attempt_ > attempts)
    throw Failure(Exit::refused,
                  fmt::format("--attempt {}: job {} has had {} so far", attempt_, id, attempts));
  const std::vector<int> ranks = ranks_of(job, attempt_);
  if (!wish_.rank || job.value("attempts", json::array()).empty() ||
      std::ranges::find(ranks, *wish_.rank) != ranks.end())
    return "";
  return fmt::format("--rank {}: attempt {} of job {} has the ranks 0 to {}", *wish_.rank, attempt_, id,
                     ranks.size() - 1);
}

void LogReader::begin(const json& job, int attempt) {
  const bool goes_on = std::exchange(attempt_, attempt) != 0;
  sources_.clear();
  const bool whole = wish_.tail && !wish_.tail->lines && !wish_.tail->bytes;
  const std::int64_t first = from_tail_ && !whole ? kTail : 0;
  from_tail_ = false;
  if (const std::string lack = lacks_rank(job); !lack.empty()) {
    if (!goes_on) throw Failure(Exit::refused, lack);
    std::fprintf(stderr, "podium: %s\n", lack.c_str());
    return;
  }
  const bool cut =
      !wish_.tail || (wish_.as_json && wish_.tail->bytes);  // whole lines, unless bytes are asked for
  for (const int rank : wish_.rank ? std::vector<int>{*wish_.rank} : ranks_of(job, attempt)) {
    if (wish_.out) sources_.push_back({rank, true, first, cut, {}});
    if (wish_.err) sources_.push_back({rank, false, first, cut, {}});
  }
}

// Until all that is there has been shown.
awaitable<bool> LogReader::read_on(Connection& connection, std::int64_t job) {
  const std::string path = fmt::format("/jobs/{}/logs", job);
  bool any = false;
  for (bool behind = !sources_.empty(); behind;) {
    const json body = question();
    const std::string answer = co_await connection.ask(path, body);
    const std::vector<Part> parts = parts_of(answer);
    behind = false;
    for (const Part& part : parts) {
      any = any || !part.text.empty();
      behind = behind || part.next < part.end;
      take(part);
    }
    const auto unread = [](const Source& source) { return source.next == kTail; };
    behind = behind || (!parts.empty() && std::ranges::any_of(sources_, unread));
  }
  co_return any;
}

json LogReader::question() const {
  json body{{"attempt", attempt_}};
  for (const Source& source : sources_) {
    json& positions = body[source.out ? "stdout" : "stderr"];
    while (std::ssize(positions) < source.rank) positions.push_back(nullptr);
    positions.push_back(source.next);
  }
  if (wish_.tail && wish_.tail->lines) body["tail_lines"] = *wish_.tail->lines;
  body["tail_bytes"] = wish_.tail && wish_.tail->bytes
                           ? *wish_.tail->bytes
                           : std::max(kUsualBytes / static_cast<std::int64_t>(sources_.size()), kLeastBytes);
  return body;
}

std::vector<LogReader::Part> LogReader::parts_of(std::string_view answer) {
  std::vector<Part> parts;
  while (!answer.empty()) {
    const std::size_t end = answer.find('\n');
    const json header = json::parse(answer.substr(0, end));
    const auto source = std::ranges::find_if(sources_, [&](const Source& each) {
      return each.rank == header.at("rank") && each.out == (header.at("stream") == "stdout");
    });
    const std::size_t length = header.at("length").get<std::size_t>();
    if (source == sources_.end() || length > answer.size() - end - 1)
      throw Failure(Exit::refused,
                    "the coordinator's answer does not fit the request; are the versions the same?");
    parts.push_back(
        {*source, header.at("offset"), header.at("next"), header.at("end"), answer.substr(end + 1, length)});
    answer.remove_prefix(end + 1 + length);
  }
  return parts;
}

void LogReader::take(const Part& part) {
  Source& source = part.source;
  std::string_view text = part.text;
  if (std::exchange(source.cut, false) && source.next == kTail && part.offset > 0 &&
      text.find('\n') != std::string_view::npos)
    text.remove_prefix(text.find('\n') + 1);
  source.next = part.next;
  if (sources_.size() == 1 && !wish_.as_json) return show_(std::string(text));
  std::string lines;
  for (const std::string& line : source.lines.feed(text, now_millis())) lines += shown(source, line);
  if (!lines.empty()) show_(lines);
}

void LogReader::show_unended() {
  if (wish_.as_json) return;  // whoever reads objects would take it for a line of its own
  for (Source& source : sources_)
    if (const auto line = source.lines.unended(now_millis())) show_(shown(source, *line));
}

void LogReader::finish() {
  for (Source& source : sources_)
    if (const auto line = source.lines.rest()) show_(shown(source, *line));
}

std::string LogReader::shown(const Source& source, const std::string& line) const {
  if (!wish_.as_json) return prefix(source) + line + "\n";
  const json object{{"attempt", attempt_},
                    {"rank", source.rank},
                    {"stream", source.out ? "stdout" : "stderr"},
                    {"line", line}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// "[3] ", "[3 stderr] "; of one rank alone "" and "[stderr] ".
std::string LogReader::prefix(const Source& source) const {
  const bool ranks =
      std::ranges::any_of(sources_, [&](const Source& other) { return other.rank != source.rank; });
  const std::string stream = wish_.out && wish_.err && !source.out ? "stderr" : "";
  const std::string text =
      (ranks ? std::to_string(source.rank) : "") + (ranks && !stream.empty() ? " " : "") + stream;
  return text.empty() ? "" : "[" + text + "] ";
}

}  // namespace podium::cli
