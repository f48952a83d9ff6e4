// Runs that are logged through MLflow's API of the coordinator: found again by what they hold, filled in
// batches, and ended.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/curves/event.h"
#include "cli/curves/point.h"
#include "cli/job_curves.h"
#include "cli/kept_connection.h"

namespace podium::cli {

// The experiment of this name, made where there is none: its id.
std::string experiment_of(KeptConnection& connection, const std::string& name);

using TextPairs = std::vector<std::pair<std::string, std::string>>;

struct NewRun {
  std::string name;
  std::int64_t start_ms = 0, end_ms = 0;
  TextPairs tags, parameters;
};

struct FoundRun {
  std::string id;
  bool finished = false;
};

// A run of the name with this tag, rather one that has finished.
std::optional<FoundRun> find_run(KeptConnection& connection, const std::string& experiment,
                                 const std::string& name, const std::string& tag, const std::string& value);

class RunLog {
 public:
  // Makes the run, or goes on with `found`. What follows may throw, and then fail() tells of it.
  RunLog(KeptConnection& connection, const std::string& experiment, NewRun run,
         const std::optional<FoundRun>& found);

  void begin();  // logs the parameters
  void add(const std::string& metric, const CurvePoint& point);
  void flush();
  void finish();
  void fail();  // it is half done

  std::int64_t job() const { return job_of(id_); }

 private:
  void set_status(const char* status);

  KeptConnection* connection_;
  NewRun run_;
  bool continued_;
  std::string id_;
  std::string metrics_;  // the batch as JSON, without its brackets
  std::size_t waiting_ = 0;
};

}  // namespace podium::cli
