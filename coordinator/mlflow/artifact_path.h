// Paths of artifacts, as MLflow's clients name them: "<experiment>/<run id>/artifacts/<path>". Pure; what may
// be under such a path is artifact_files.h's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"

namespace podium::mlflow {

struct ArtifactPath {
  JobId run;
  std::vector<std::string> parts;  // below the run's folder; none: the folder itself

  bool operator==(const ArtifactPath&) const = default;
};

// The parts of a path relative to a run's folder; "" has none. `decoded`: without percent-encoding.
Result<std::vector<std::string>> artifact_parts(std::string_view decoded);

// What comes before the run's id is an experiment's artifact_location, and means nothing here.
Result<ArtifactPath> parse_artifact_path(std::string_view decoded, std::string_view cluster);

// Of an artifact_uri whose files this coordinator keeps, the path; nothing of another.
std::optional<std::string> kept_path(const std::string& artifact_uri);

}  // namespace podium::mlflow
