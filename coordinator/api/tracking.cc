// What MLflow's clients have logged of a job, for the dashboard.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/mlflow/artifact_path.h"
#include "coordinator/mlflow/objects.h"
#include "coordinator/mlflow/run_id.h"
#include "coordinator/store/run_reader.h"

namespace podium {
namespace {

using nlohmann::json;

struct TrackedRun {
  Run run;
  RunTexts submitted;
};

json texts_json(const std::vector<KeyValue>& texts, const std::vector<KeyValue>& submitted) {
  json list = json::array();
  for (const KeyValue& text : texts)
    list.push_back({{"key", text.key},
                    {"value", text.value},
                    {"submitted", std::ranges::find(submitted, text) != submitted.end()}});
  return list;
}

json tracking_json(const TrackedRun& tracked, const std::string& cluster) {
  const auto& [run, submitted] = tracked;
  return {{"run_id", mlflow::run_id_of(run.info.job, cluster)},
          {"experiment_id", std::to_string(run.info.group.value)},
          {"user", run.info.user},
          {"artifacts", mlflow::kept_path(mlflow::artifact_uri(run.info, cluster)).value_or("")},
          {"params", texts_json(run.data.params, submitted.params)},
          {"tags", texts_json(run.data.tags, submitted.tags)}};
}

}  // namespace

awaitable<ServerReply> get_tracking(Api& api, Call call) {
  const std::optional<JobId> id = parse_id<JobId>(call.path[0]);
  if (!call.query.problems().empty()) co_return bad_query(call);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto query = [id = *id](Reader& reader) -> std::optional<TrackedRun> {
    std::optional<Run> run = reader.runs().run(id);
    if (!run || run->info.deleted) return std::nullopt;
    return TrackedRun{std::move(*run), reader.runs().submitted(id)};
  };
  const std::optional<TrackedRun> tracked = co_await api.pool.read(query);
  if (!tracked) co_return no_such(call, "job", call.path[0]);
  co_return json_reply(200, tracking_json(*tracked, api.options.cluster));
}

awaitable<ServerReply> get_job_artifacts(Api& api, Call call) {
  const std::optional<JobId> id = parse_id<JobId>(call.path[0]);
  const auto parts = mlflow::artifact_parts(call.query.text("path").value_or(""));
  if (!parts) call.query.refuse("path", parts.errors().front().message);
  if (!call.query.problems().empty()) co_return bad_query(call);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto query = [id = *id](Reader& reader) { return reader.runs().info(id); };
  const std::optional<RunInfo> run = co_await api.pool.read(query);
  if (!run || run->deleted) co_return no_such(call, "job", call.path[0]);
  const auto list = [&api, id = *id, parts = *parts] { return api.artifacts.list(id, parts); };
  json files = json::array();
  for (const TreeEntry& entry : co_await api.files.run(list))
    files.push_back({{"name", entry.name}, {"folder", entry.is_folder}, {"bytes", entry.bytes}});
  co_return json_reply(200, {{"files", std::move(files)}});
}

}  // namespace podium
