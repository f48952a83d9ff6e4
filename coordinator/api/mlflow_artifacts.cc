// MLflow: the list of a run's artifacts, whose files artifacts.cc has.
#include <nlohmann/json.hpp>

#include "coordinator/api/artifacts.h"
#include "coordinator/api/mlflow.h"
#include "coordinator/mlflow/artifact_path.h"
#include "coordinator/mlflow/objects.h"
#include "coordinator/mlflow/run_id.h"

namespace podium::mlflow {

awaitable<ServerReply> list_artifacts(Api& api, Fields fields) {
  JobId job;
  if (const auto fault = read_run(api, fields, job)) co_return refusal(*fault);
  const std::string path = fields.text("path").value_or("");
  const Result<std::vector<std::string>> parts = artifact_parts(path);
  if (!fields.errors().empty()) co_return refusal(fault_of(fields.errors()));
  if (!parts) co_return refusal(fault_of(parts.errors()));
  const auto query = [job](Reader& reader) { return reader.runs().info(job); };
  const std::optional<RunInfo> run = co_await api.pool.read(query);
  if (!run) co_return refusal(no_such_run(run_id_of(job, cluster_of(api))));
  const auto list = [&api, job, parts = *parts] { return api.artifacts.list(job, parts); };
  const std::vector<TreeEntry> entries = co_await api.files.run(list);
  const nlohmann::json listed{{"root_uri", artifact_uri(*run, cluster_of(api))},
                              {"files", files_json(entries, path)}};
  co_return json_text(listed.dump());
}

}  // namespace podium::mlflow
