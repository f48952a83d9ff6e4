#include "cli/log_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/fields.h"
#include "cli/print.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostBytes = 1024 * 1024;  // that one answer holds
constexpr std::int64_t kUsualBytes = 64 * 1024;   // of all sources together
constexpr std::int64_t kLeastBytes = 2 * 1024;    // of one
constexpr std::int64_t kBytesOfLine = 256;        // a first guess
constexpr std::int64_t kMostLines = 1'000'000;
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

// The last `lines` lines, of which the last may have no end yet; nothing where `text` may not hold them all.
std::optional<std::string> last_lines(const std::string& text, std::int64_t lines) {
  std::size_t at = text.size();
  for (std::int64_t found = 0; at > 0; --at)
    if (text[at - 1] == '\n' && at != text.size() && ++found == lines) return text.substr(at);
  return std::nullopt;
}

}  // namespace

std::optional<Tail> parse_tail(const std::string& text) {
  Tail tail;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (number && text.size() <= 7) tail.lines = std::min<std::int64_t>(std::stoll(text), kMostLines);
  if (!number)
    if (const auto size = parse_size(text)) tail.bytes = static_cast<std::int64_t>(*size);
  return tail.lines || tail.bytes ? std::optional(tail) : std::nullopt;
}

bool LogReader::read(const json& job) {
  const int attempt = wish_.attempt.value_or(static_cast<int>(integer_field(job, "attempt")));
  if (attempt == 0) {
    from_tail_ = false;  // of what comes nothing is left out
    return false;
  }
  const std::int64_t id = integer_field(job, "id");
  bool any = false;
  if (attempt != attempt_) {
    for (Source& source : sources_) any = read_on(source, id) || any;  // what the one before still wrote
    begin(job, attempt);
  }
  for (Source& source : sources_) any = read(source, id) || any;
  from_tail_ = false;
  return any;
}

bool LogReader::read_rest(const json& job) {
  bool any = read(job);
  for (int quiet = 0; quiet < kQuietLooks; ++quiet) {
    std::this_thread::sleep_for(kQuiet);
    if (!read(job)) continue;
    any = true;
    quiet = -1;
  }
  return any;
}

void LogReader::begin(const json& job, int attempt) {
  finish();
  sources_.clear();
  attempt_ = attempt;
  for (const int rank : wish_.rank ? std::vector<int>{*wish_.rank} : ranks_of(job, attempt)) {
    if (wish_.out) sources_.push_back({rank, true, 0, {}});
    if (wish_.err) sources_.push_back({rank, false, 0, {}});
  }
}

bool LogReader::read(Source& source, std::int64_t job) {
  const bool whole = wish_.tail && !wish_.tail->lines && !wish_.tail->bytes;
  if (from_tail_ && !whole) {
    source.rest = fetch_tail(source, job);
    const bool any = !source.rest.empty();
    print_lines(source);
    return any;
  }
  return read_on(source, job);
}

bool LogReader::read_on(Source& source, std::int64_t job) {
  bool any = false;
  for (std::string text; !(text = fetch(source, job, "offset", source.next)).empty(); any = true) {
    source.rest += text;
    print_lines(source);
  }
  return any;
}

std::string LogReader::fetch(Source& source, std::int64_t job, const std::string& from, std::int64_t number) {
  const HttpResponse response =
      client_.get_text(fmt::format("/jobs/{}/logs", job), {{"attempt", std::to_string(attempt_)},
                                                           {"rank", std::to_string(source.rank)},
                                                           {"stream", source.out ? "stdout" : "stderr"},
                                                           {from, std::to_string(number)}});
  const std::string next = response.headers.get("X-Podium-Next-Offset");
  if (next.empty())
    throw Failure(Exit::refused,
                  "the coordinator's answer has no X-Podium-Next-Offset; are the versions alike?");
  source.next = std::stoll(next);
  return response.body;
}

std::string LogReader::fetch_tail(Source& source, std::int64_t job) {
  if (wish_.tail && wish_.tail->bytes)
    return fetch(source, job, "tail", std::min(*wish_.tail->bytes, kMostBytes));
  const auto many = static_cast<std::int64_t>(sources_.size());
  if (!wish_.tail) {
    const std::int64_t bytes = std::max(kUsualBytes / many, kLeastBytes);
    const std::string text = fetch(source, job, "tail", bytes);
    const bool cut = static_cast<std::int64_t>(text.size()) >= bytes && text.find('\n') != std::string::npos;
    return cut ? text.substr(text.find('\n') + 1) : text;
  }
  if (*wish_.tail->lines == 0) return fetch(source, job, "tail", 0);
  for (std::int64_t bytes = *wish_.tail->lines * kBytesOfLine;; bytes *= 8) {
    const std::int64_t asked = std::min(bytes, kMostBytes);
    const std::string text = fetch(source, job, "tail", asked);
    const auto lines = last_lines(text, *wish_.tail->lines);
    if (lines) return *lines;
    if (static_cast<std::int64_t>(text.size()) < asked || asked == kMostBytes) return text;
  }
}

void LogReader::print_lines(Source& source) {
  if (sources_.size() == 1) return print(std::exchange(source.rest, {}));
  const std::string before = prefix(source);
  std::string out;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = source.rest.find('\n', at)) != std::string::npos; at = end + 1)
    out += before + source.rest.substr(at, end + 1 - at);
  source.rest.erase(0, at);
  print(out);
}

void LogReader::finish() {
  for (Source& source : sources_) {
    if (!source.rest.empty()) source.rest += '\n';
    print_lines(source);
  }
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
