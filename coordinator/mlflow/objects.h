// MLflow's objects as JSON text. They are written without a document in between, because a page of runs or a
// long history is megabytes.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/store/run_reader.h"

namespace podium::mlflow {

// `cluster`: of which the run ids are.
std::string run_json(const Run& run, std::string_view cluster);           // {"run": …}
std::string run_info_json(const RunInfo& run, std::string_view cluster);  // {"run_info": …}
std::string runs_json(const FoundPage<Run>& page, const std::string& next_page, std::string_view cluster);
std::string history_json(std::string_view key, const FoundPage<HistoryPoint>& page,
                         const std::string& next_page);
std::string experiment_json(const RunGroup& group);  // {"experiment": …}
std::string experiments_json(const FoundPage<RunGroup>& page, const std::string& next_page);

std::string artifact_uri(const RunInfo& run, std::string_view cluster);

}  // namespace podium::mlflow
