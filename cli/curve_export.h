// Writes jobs' whole curves as files of other programs: a folder of TensorBoard with a run for each job, or
// one table of points.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/job_curves.h"

namespace podium::cli {

struct ExportedJob {
  nlohmann::json job;  // as the coordinator tells it, with its spec
  std::string run;     // its name, and its number where several have that name
  std::string run_id;  // of MLflow's form
  std::vector<JobMetric> metrics;

  std::int64_t id() const { return job.at("id").get<std::int64_t>(); }
};

using Sink = std::function<void(std::string_view bytes)>;
using PointsDone = std::function<void(std::uint64_t points)>;  // told often

// The bytes of a run's one event file: its spec, its parameters and its points, curve by curve. How many
// points there were.
std::uint64_t write_events(KeptConnection& connection, const ExportedJob& job, const Sink& sink,
                           const PointsDone& done);
std::int64_t begin_of(const ExportedJob& job);  // milliseconds

enum class TableForm { csv, wide_csv, json_lines };

// How many points there were of each job.
std::vector<std::uint64_t> write_table(KeptConnection& connection, const std::vector<ExportedJob>& jobs,
                                       TableForm form, const Sink& sink, const PointsDone& done);

}  // namespace podium::cli
