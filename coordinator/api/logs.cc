#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

constexpr std::int64_t kDefaultTail = 64 * 1024;
constexpr std::int64_t kMaxPart = 1024 * 1024;

struct LogQuery {
  JobId job;
  std::optional<std::int64_t> attempt;  // the last, when not set
  std::int64_t rank = 0;
  StreamKind stream = StreamKind::err;
  std::optional<std::int64_t> offset, tail;
};

LogQuery read_query(Query& query, JobId job) {
  LogQuery wanted;
  wanted.job = job;
  wanted.attempt = query.integer("attempt", 1, INT32_MAX);
  wanted.rank = query.integer_or("rank", 0, 0, INT32_MAX);
  const std::string stream = query.text("stream").value_or("stderr");
  if (stream != "stdout" && stream != "stderr") query.refuse("stream", "must be stdout or stderr");
  wanted.stream = stream == "stdout" ? StreamKind::out : StreamKind::err;
  wanted.offset = query.integer("offset", 0, INT64_MAX);
  wanted.tail = query.integer("tail", 0, kMaxPart);
  if (wanted.offset && wanted.tail) query.refuse("tail", "cannot be combined with offset");
  return wanted;
}

int most_devices(const JobRequest& request) {
  return request.elastic() ? request.sizes.back() : request.devices;
}

// Nothing when there is no such job, attempt or rank; an empty part while the job has not had an attempt.
std::optional<LogPart> read_log(Reader& reader, const LogQuery& wanted) {
  const std::optional<JobView> job = reader.job(wanted.job);
  if (!job || wanted.rank >= most_devices(job->request) || wanted.attempt.value_or(0) > job->attempt)
    return std::nullopt;
  const auto attempt = static_cast<std::int32_t>(wanted.attempt.value_or(job->attempt));
  if (attempt == 0) return LogPart{};
  const TaskId task{{wanted.job, attempt}, static_cast<std::int32_t>(wanted.rank)};
  if (wanted.offset) return reader.log(task, wanted.stream, *wanted.offset, kMaxPart);
  return reader.log_tail(task, wanted.stream, wanted.tail.value_or(kDefaultTail));
}

}  // namespace

awaitable<ServerReply> get_logs(Api& api, Call call) {
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const LogQuery wanted = read_query(call.query, *id);
  if (!call.query.problems().empty()) co_return bad_query(call);
  std::optional<LogPart> part =
      co_await api.pool.read([wanted](Reader& reader) { return read_log(reader, wanted); });
  if (!part) co_return no_such(call, "such attempt or rank of job", call.path[0]);
  ServerReply reply;
  reply.headers.set("Content-Type", "text/plain; charset=utf-8");
  reply.headers.set("Cache-Control", "no-store");
  reply.headers.set("X-Podium-Next-Offset", std::to_string(part->next));
  reply.body = std::move(part->text);
  co_return reply;
}

}  // namespace podium
