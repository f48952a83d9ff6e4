// The log of MLPerf Training that a job has written: the lines of rank 0's standard output that have its
// token. Each attempt of a training tells the run's log from its beginning, so the newest that tells any has
// all of it. Of a command it has what that attempt has told.
#include <fmt/format.h>

#include <algorithm>

#include "common/mlperf/log.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

constexpr std::int64_t kLogPart = std::int64_t{1} << 20;
constexpr std::int64_t kMostRead = std::int64_t{64} << 20;  // of all attempts' output
constexpr std::size_t kLargestMlperfLog = std::size_t{16} << 20;

// Takes the lines with the token out of text that comes in parts.
class TokenLines {
 public:
  void take(const std::string& part) {
    rest_ += part;
    std::size_t begin = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      keep(std::string_view(rest_).substr(begin, end + 1 - begin));
      begin = end + 1;
    }
    rest_.erase(0, begin);
    if (rest_.size() > mlperf::kLongestLine) rest_.clear();  // no line of a log
  }

  const std::string& text() const { return text_; }
  bool is_full() const { return text_.size() >= kLargestMlperfLog; }

 private:
  void keep(std::string_view line) {
    if (line.find(mlperf::kToken) != std::string_view::npos && !is_full()) text_ += line;
  }

  std::string rest_, text_;
};

struct FoundLog {
  std::string text = {};
  bool is_cut = false;    // there is more than is read
  std::int64_t lost = 0;  // bytes of output that were not kept, in which more of it may have stood

  bool is_whole() const { return !is_cut && lost == 0; }
};

void read_attempt(Reader& reader, const TaskId& task, std::int64_t& budget, FoundLog& found) {
  TokenLines lines;
  const std::int64_t end = reader.log_end(task, StreamKind::out);
  std::int64_t from = 0;
  while (from < end && budget > 0 && !lines.is_full()) {
    const LogPart part = reader.log(task, StreamKind::out, from, kLogPart);
    lines.take(part.text);
    budget -= std::ssize(part.text);
    found.lost += part.lost;
    from = part.next > from ? part.next : end;
  }
  found.is_cut |= from < end || lines.is_full();
  found.text = lines.text();
}

// Without text where no attempt has told any; nothing where there is no such job.
std::optional<FoundLog> mlperf_log(Reader& reader, JobId id) {
  const std::optional<JobView> job = reader.job(id);
  if (!job) return std::nullopt;
  FoundLog found;
  std::int64_t budget = kMostRead;
  for (std::int32_t attempt = job->attempt; attempt >= 1 && found.text.empty(); --attempt)
    read_attempt(reader, {{id, attempt}, 0}, budget, found);
  return found;
}

// Of what is not read, or was not kept, nobody can say what stands in it.
std::string what_is_missing(const FoundLog& found) {
  if (found.lost > 0)
    return fmt::format(
        "{} bytes of its output were not kept (--log-limit, --logs-quota and --keep-logs of the "
        "coordinator)",
        found.lost);
  return fmt::format("it is read from {} MiB of output at most, and may have {} MiB", kMostRead >> 20,
                     kLargestMlperfLog >> 20);
}

std::string no_line(JobId job, const FoundLog& found) {
  return fmt::format(
      "job {} has told no line of a log of MLPerf{}: a training with mlperf in its spec does, "
      "once it runs",
      job.value, found.is_whole() ? "" : " that is found here (" + what_is_missing(found) + ")");
}

}  // namespace

awaitable<ServerReply> get_job_mlperf(Api& api, Call call) {
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  if (!call.query.problems().empty()) co_return bad_query(call);
  std::optional<FoundLog> log =
      co_await api.pool.read([job = *id](Reader& reader) { return mlperf_log(reader, job); });
  if (!log) co_return no_such(call, "job", call.path[0]);
  if (log->text.empty()) co_return problem(404, no_line(*id, *log), call.request.id);
  if (!log->is_whole())
    co_return problem(422,
                      fmt::format("the log of MLPerf of job {} cannot be told whole: {}; \"podium logs {} "
                                  "--stdout\" has what there is",
                                  id->value, what_is_missing(*log), id->value),
                      call.request.id);
  ServerReply reply;
  reply.headers.set("Content-Type", "text/plain; charset=utf-8");
  reply.headers.set("Content-Disposition",
                    fmt::format("attachment; filename=\"job-{}-mlperf.txt\"", id->value));
  reply.headers.set("Cache-Control", "no-store");
  reply.body = std::move(log->text);
  co_return reply;
}

}  // namespace podium
