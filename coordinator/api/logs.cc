// Reads what tasks wrote: the output of one task, and what is new in all outputs of an attempt.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/spec/json_body.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

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

// One output of an attempt, and where to go on in it.
struct Source {
  std::int32_t rank = 0;
  StreamKind stream = StreamKind::out;
  std::int64_t from = 0;  // kTail: where its tail begins
};

constexpr std::int64_t kTail = -1;
constexpr std::int64_t kLeastPart = 1024;                      // of one output, where many have something new
constexpr std::int64_t kMostScanned = std::int64_t{64} << 20;  // for the beginnings of lines
constexpr std::size_t kLargestLogsBody = std::size_t{1} << 20;

struct LogsQuery {
  JobId job;
  std::optional<std::int64_t> attempt;  // the last, when not set
  std::int64_t tail_bytes = 0;
  std::optional<std::int64_t> tail_lines;
  std::vector<Source> sources;
};

void add_sources(const json& positions, StreamKind stream, LogsQuery& wanted, Errors& errors) {
  const std::string where = fmt::format("/{}", to_string(stream));
  if (!positions.is_array()) return refuse(errors, "must be a list with a position for each rank", where);
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    if (positions[rank].is_null()) continue;
    if (const auto from = whole_number(positions[rank], kTail))
      wanted.sources.push_back({static_cast<std::int32_t>(rank), stream, *from});
    else
      refuse(errors, "must be a byte to go on from, -1 for the tail, or null to leave the rank out",
             fmt::format("{}/{}", where, rank));
  }
}

std::optional<std::int64_t> number_of(const json& body, const char* key, std::int64_t least, Errors& errors) {
  if (!body.contains(key)) return std::nullopt;
  const auto number = whole_number(body[key], least);
  if (!number) refuse(errors, fmt::format("must be a whole number from {}", least), fmt::format("/{}", key));
  return number;
}

Result<LogsQuery> read_logs_query(const std::string& text, JobId job) {
  const Result<json> body = parse_object(text);
  if (!body) return body.errors();
  Errors errors;
  refuse_unknown(*body, {"attempt", "tail_bytes", "tail_lines", "stdout", "stderr"}, errors);
  LogsQuery wanted;
  wanted.job = job;
  wanted.attempt = number_of(*body, "attempt", 1, errors);
  wanted.tail_bytes = number_of(*body, "tail_bytes", 0, errors).value_or(0);
  wanted.tail_lines = number_of(*body, "tail_lines", 0, errors);
  for (const StreamKind stream : {StreamKind::out, StreamKind::err})
    if (const auto positions = body->find(to_string(stream)); positions != body->end())
      add_sources(*positions, stream, wanted, errors);
  if (!errors.empty()) return errors;
  return wanted;
}

int most_devices(const JobRequest& request) {
  return request.elastic() ? request.sizes.back() : request.devices;
}

// Nothing where the job, attempt or rank does not exist; an empty part while the job has had no attempt.
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

std::string header_of(const Source& source, const LogPart& part, std::int64_t end) {
  return json{{"rank", source.rank},   {"stream", to_string(source.stream)},
              {"offset", source.from}, {"length", part.text.size()},
              {"next", part.next},     {"end", end}}
             .dump() +
         "\n";
}

// Nothing where the job, attempt or rank does not exist.
std::optional<std::string> read_logs(Reader& reader, const LogsQuery& wanted) {
  const std::optional<JobView> job = reader.job(wanted.job);
  if (!job || wanted.attempt.value_or(0) > job->attempt) return std::nullopt;
  const auto attempt = static_cast<std::int32_t>(wanted.attempt.value_or(job->attempt));
  std::vector<std::pair<Source, std::int64_t>> found;  // and their ends
  std::int64_t budget = kMostScanned;
  for (Source source : wanted.sources) {
    if (source.rank >= most_devices(job->request)) return std::nullopt;
    const TaskId task{{wanted.job, attempt}, source.rank};
    const std::int64_t end = reader.log_end(task, source.stream);
    const bool tail = source.from == kTail;
    if (tail && wanted.tail_lines) {
      const auto start = reader.log_lines(task, source.stream, *wanted.tail_lines, budget);
      if (!start && !found.empty()) break;  // the rest is asked for again
      source.from = start.value_or(std::max<std::int64_t>(0, end - kMostScanned));
    } else if (tail) {
      source.from = std::max<std::int64_t>(0, end - wanted.tail_bytes);
    }
    if (tail || source.from < end) found.emplace_back(source, end);
  }
  const std::int64_t each = std::max(kLeastPart, kMaxPart / std::max<std::int64_t>(1, std::ssize(found)));
  std::string text;
  for (const auto& [source, end] : found) {
    const TaskId task{{wanted.job, attempt}, source.rank};
    const LogPart part = reader.log(task, source.stream, source.from, each);
    text += header_of(source, part, end) + part.text;
  }
  return text;
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

awaitable<ServerReply> post_logs(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json", kLargestLogsBody)) co_return std::move(*refusal);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const Result<LogsQuery> wanted = read_logs_query(call.request.body, *id);
  if (!wanted) co_return bad_request(call, wanted.errors());
  const auto query = [wanted = *wanted](Reader& reader) { return read_logs(reader, wanted); };
  std::optional<std::string> text = co_await api.pool.read(query);
  if (!text) co_return no_such(call, "such attempt or rank of job", call.path[0]);
  ServerReply reply;
  reply.headers.set("Content-Type", "application/x-podium-outputs");
  reply.headers.set("Cache-Control", "no-store");
  reply.body = std::move(*text);
  co_return reply;
}

}  // namespace podium
