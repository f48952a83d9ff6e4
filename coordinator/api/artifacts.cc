#include "coordinator/api/artifacts.h"

#include <nlohmann/json.hpp>

#include "common/net/url.h"
#include "coordinator/api/file_reply.h"
#include "coordinator/api/guard.h"
#include "coordinator/api/reply.h"
#include "coordinator/mlflow/artifact_path.h"
#include "coordinator/mlflow/error.h"

namespace podium {
namespace {

using mlflow::ArtifactPath;
using nlohmann::json;

constexpr std::size_t kArtifactsPrefix = 3;  // segments: api, 2.0, mlflow-artifacts

std::string joined_from(const std::vector<std::string>& segments, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < segments.size(); ++i) text += (i == first ? "" : "/") + segments[i];
  return text;
}

ServerReply no_such_artifact(const std::string& path) {
  return mlflow::refusal({mlflow::Code::resource_does_not_exist, "there is no artifact \"" + path + "\""});
}

ServerReply no_multipart() {
  return mlflow::refusal({mlflow::Code::not_implemented,
                          "Multipart upload is not supported for the current artifact repository"});
}

awaitable<ServerReply> get_artifact(Api& api, Call call) {
  const ArtifactPath path = *mlflow::parse_artifact_path(call.path[0], api.options.cluster);
  const auto open = [&api, path] { return api.artifacts.open(path.run, path.parts); };
  std::optional<TreeFile> file = co_await api.files.run(open);
  if (!file) co_return no_such_artifact(call.path[0]);
  ServerReply too_far =
      mlflow::refusal({mlflow::Code::bad_request, "the range begins after the end of the artifact"});
  co_return file_reply(api, call.request, path.parts.back(), std::move(*file), std::move(too_far));
}

awaitable<ServerReply> get_artifacts(Api& api, Call call) {
  const ArtifactPath path = *mlflow::parse_artifact_path(call.path[0], api.options.cluster);
  const auto list = [&api, path] { return api.artifacts.list(path.run, path.parts); };
  const auto entries = co_await api.files.run(list);
  co_return json_reply(200, {{"files", files_json(entries, "")}});
}

// A run's folder can be deleted also where nothing is in it.
awaitable<ServerReply> delete_artifact(Api& api, Call call) {
  const ArtifactPath path = *mlflow::parse_artifact_path(call.path[0], api.options.cluster);
  const auto remove = [&api, path] { return api.artifacts.remove(path.run, path.parts); };
  const bool was_there = co_await api.files.run(remove);
  if (!was_there && !path.parts.empty()) co_return no_such_artifact(call.path[0]);
  co_return json_reply(200, json::object());
}

// Of `artifacts`, or of `artifacts/<path>`.
Resolved resolve_path(const Api& api, const ServerRequest& head, Target target, std::string path,
                      bool listed) {
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (!reads && (listed || (head.method != "PUT" && head.method != "DELETE")))
    return refused(problem(405, head.method + " is not possible here", head.id));
  if (auto refusal =
          refuse_tracking(api.options, reads ? Audience::read : Audience::user, TrackingScope::run, head))
    return refused(std::move(*refusal));
  const Result<ArtifactPath> parsed = mlflow::parse_artifact_path(path, api.options.cluster);
  if (!parsed) return refused(mlflow::refusal(mlflow::fault_of(parsed.errors())));
  if (auto refusal = refuse_run(api.options, parsed->run, head)) return refused(std::move(*refusal));
  Resolved resolved;
  resolved.path = {std::move(path)};
  resolved.target = std::move(target);
  if (head.method == "PUT")
    resolved.sink = artifact_sink;
  else
    resolved.answer = head.method == "DELETE" ? delete_artifact : listed ? get_artifacts : get_artifact;
  return resolved;
}

}  // namespace

json files_json(const std::vector<TreeEntry>& entries, const std::string& folder) {
  json files = json::array();
  for (const auto& entry : entries) {
    json& file = files.emplace_back(
        json{{"path", (folder.empty() ? "" : folder + "/") + entry.name}, {"is_dir", entry.is_folder}});
    if (!entry.is_folder) file["file_size"] = entry.bytes;
  }
  return files;
}

bool is_of_artifacts(const std::vector<std::string>& segments) {
  return segments.size() >= kArtifactsPrefix && segments[0] == "api" && segments[1] == "2.0" &&
         segments[2] == "mlflow-artifacts";
}

Resolved resolve_artifacts(const Api& api, const ServerRequest& head, Target target) {
  const std::string below = joined_from(target.segments, kArtifactsPrefix);
  if (head.method == "POST" && below.starts_with("mpu/")) {
    if (auto refusal = refuse_tracking(api.options, Audience::user, TrackingScope::run, head))
      return refused(std::move(*refusal));
    return refused(no_multipart());
  }
  if (below == "artifacts" || below == "artifacts/") {
    const std::string path = Query(target.query).text("path").value_or("");
    return resolve_path(api, head, std::move(target), path, true);
  }
  constexpr std::string_view kFiles = "artifacts/";
  if (below.starts_with(kFiles))
    return resolve_path(api, head, std::move(target), below.substr(kFiles.size()), false);
  return refused(
      mlflow::refusal({mlflow::Code::endpoint_not_found, "there is no " + head.target.substr(0, 200)}));
}

}  // namespace podium
