// MLflow's artifacts, /api/2.0/mlflow-artifacts: files of a run, put, read, listed and deleted by its
// clients.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/api/resolved.h"
#include "coordinator/mlflow/artifact_files.h"

namespace podium {

bool is_of_artifacts(const std::vector<std::string>& segments);
// `target`: one of is_of_artifacts().
Resolved resolve_artifacts(const Api& api, const ServerRequest& head, Target target);

// MLflow's FileInfo of each; `folder` is put before the names ("": nothing).
nlohmann::json files_json(const std::vector<TreeEntry>& entries, const std::string& folder);

// In artifact_upload.cc. `path`: {the decoded path of the artifact}.
std::shared_ptr<RequestSink> artifact_sink(Api& api, ServerRequest head, std::vector<std::string> path);

}  // namespace podium
