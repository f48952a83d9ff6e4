// Curves of other programs as tracked runs. All points are read once before anything is written: what cannot
// be taken is refused as a whole, and what is there already is recognised by its points.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/curves/event.h"
#include "cli/curves/point.h"
#include "cli/kept_connection.h"

namespace podium::cli {

struct CurveSource {
  std::string format;  // "tensorboard"
  std::string path;    // absolute
  // All points, with the names of their runs and as the source calls their metrics; the same each time.
  std::function<void(const std::function<void(const TaggedPoint&)>&)> read;
  std::map<std::string, HyperParameters> parameters;  // by run
  std::vector<std::string> warnings;                  // of what is not taken
};

struct ImportWish {
  std::string experiment;
  std::function<bool(const std::string& metric)> wanted;
  bool again = false;  // also what is there already
};

struct ImportedRun {
  std::string name;
  std::int64_t job = 0;
  std::uint64_t points = 0, metrics = 0;
  std::string outcome;  // "imported", "continued", "already imported"
};

struct Import {
  std::vector<ImportedRun> runs;
  std::vector<std::string> warnings;
};

// Throws Failure where nothing is there, two names are one here, or the coordinator refuses; a run that is
// half done then is marked as failed, and the next import goes on with it.
Import import_curves(KeptConnection& connection, const CurveSource& source, const ImportWish& wish);

}  // namespace podium::cli
