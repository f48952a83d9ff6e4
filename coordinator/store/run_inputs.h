// Writes the table `run_inputs`: the datasets and models that a run has read. In the caller's transaction, on
// the writer's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/run_bytes.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class RunInputs {
 public:
  RunInputs(Database& database, RunBytes& bytes);

  // Nothing, or why they are refused: then none is written. An input that the run has already keeps the tags
  // that are not told again, such as what the data is for.
  std::optional<Error> add(JobId run, const std::vector<RunInput>& inputs);

 private:
  std::optional<std::string> known_body(JobId run, const RunInput& input);

  RunBytes& bytes_;
  Statement count_, find_, put_;
};

}  // namespace podium
