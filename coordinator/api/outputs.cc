// The outputs of jobs: what was collected, and each file of it.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "coordinator/api/file_reply.h"
#include "coordinator/api/output_list.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostListed = 100'000;
constexpr std::int64_t kUsuallyListed = 10'000;

// In the shared folder.
PathParts outputs_of(const Api& api, JobId job) {
  PathParts parts;
  for (const auto& part : std::filesystem::path(api.loop.state().folder)) parts.push_back(part);
  parts.insert(parts.end(), {to_string(job), "outputs"});
  return parts;
}

std::string folder_text(const PathParts& folder) {
  std::filesystem::path path;
  for (const std::string& part : folder) path /= part;
  return path;
}

json outputs_json(JobId job, const std::string& folder, bool available, const OutputList& list,
                  std::size_t processes) {
  json files = json::array();
  for (const OutputFile& file : list.files)
    files.push_back({{"rank", file.rank}, {"path", file.path}, {"bytes", file.bytes}});
  return {{"job", job.value},
          {"available", available},
          {"folder", list.attempt > 0 ? folder + "/" + std::to_string(list.attempt) : folder},
          {"attempt", list.attempt > 0 ? json(list.attempt) : json(nullptr)},
          {"attempts", list.attempts},
          {"ranks", list.ranks},
          {"processes", processes},
          {"outputs", std::move(files)},
          {"more", list.more}};
}

// How many processes each of its attempts has; nothing where there is no such job.
awaitable<std::optional<std::map<int, std::size_t>>> processes_of(Api& api, JobId id) {
  const auto query = [id](Reader& reader) -> std::optional<std::map<int, std::size_t>> {
    if (!reader.job(id)) return std::nullopt;
    std::map<int, std::size_t> processes;
    for (const AttemptView& attempt : reader.attempts(id)) processes[attempt.number] = attempt.tasks.size();
    return processes;
  };
  co_return co_await api.pool.read(query);
}

// Any name that a file may have.
std::optional<PathParts> parts_of_path(const std::string& path) {
  PathParts parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    const std::string& part = parts.back();
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos)
      return std::nullopt;
    begin = end + 1;
  }
  return parts;
}

}  // namespace

awaitable<ServerReply> get_outputs(Api& api, Call call) {
  const auto id = parse_id<JobId>(call.path[0]);
  const auto attempt = call.query.integer("attempt", 1, INT32_MAX);
  const auto most = static_cast<std::size_t>(call.query.integer_or("limit", kUsuallyListed, 1, kMostListed));
  if (!call.query.problems().empty()) co_return bad_query(call);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto processes = co_await processes_of(api, *id);
  if (!processes) co_return no_such(call, "job", call.path[0]);
  const PathParts folder = outputs_of(api, *id);
  const bool available = !api.options.shared.empty();
  if (!available) co_return json_reply(200, outputs_json(*id, folder_text(folder), available, {}, 0));
  const auto list = [shared = api.options.shared, folder, attempt, most] {
    return list_outputs(shared, folder,
                        attempt ? std::optional(static_cast<std::int32_t>(*attempt)) : std::nullopt, most);
  };
  const OutputList found = co_await api.files.run(list);
  const auto attempt_of = processes->find(found.attempt);
  const std::size_t of_attempt = attempt_of == processes->end() ? 0 : attempt_of->second;
  co_return json_reply(200, outputs_json(*id, folder_text(folder), available, found, of_attempt));
}

awaitable<ServerReply> get_output(Api& api, Call call) {
  const auto id = parse_id<JobId>(call.path[0]);
  const auto attempt = call.query.integer("attempt", 1, INT32_MAX);
  const auto rank = call.query.integer("rank", 0, INT32_MAX);
  const auto parts = parts_of_path(call.query.text("path").value_or(""));
  if (!attempt) call.query.refuse("attempt", "must be the attempt whose output it is");
  if (!rank) call.query.refuse("rank", "must be the rank whose output it is");
  if (!parts) call.query.refuse("path", "must be the path of an output, as the list has it");
  if (!call.query.problems().empty()) co_return bad_query(call);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto processes = co_await processes_of(api, *id);
  if (!processes) co_return no_such(call, "job", call.path[0]);
  PathParts path = outputs_of(api, *id);
  if (api.options.shared.empty())
    co_return problem(
        409,
        "this coordinator does not see the nodes' shared folder: start it with --shared, or read " +
            folder_text(path) + " there",
        call.request.id);
  path.insert(path.end(), {std::to_string(*attempt), std::to_string(*rank)});
  path.insert(path.end(), parts->begin(), parts->end());
  const auto open = [shared = api.options.shared, path] { return open_below(shared, path); };
  std::optional<TreeFile> file = co_await api.files.run(open);
  if (!file) co_return no_such(call, "such output of job", call.path[0]);
  ServerReply too_far = problem(416, "the range begins after the end of the output", call.request.id);
  co_return file_reply(api, call.request, parts->back(), std::move(*file), std::move(too_far));
}

}  // namespace podium
