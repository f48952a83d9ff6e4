// Brings the inputs of a job onto this node, or finds them there. Blocking: for a thread of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/staging/download.h"
#include "agent/staging/input_store.h"
#include "agent/staging/progress.h"
#include "common/model/program_spec.h"

namespace podium {

struct StagedInput {
  std::string to;
  std::string key;
  std::filesystem::path data;
};

// The names below PODIUM_INPUTS stay below it, and none lies within another. Throws StagingFailure.
void check_names(const std::vector<InputSpec>& inputs);

// Where relative paths begin is `data_folder`. `holder` holds all of them when this returns. Throws
// StagingFailure naming the input, StagingStopped and std::system_error.
std::vector<StagedInput> stage_inputs(const std::vector<InputSpec>& inputs,
                                      const std::filesystem::path& data_folder, const std::string& holder,
                                      InputStore& store, const DownloadRules& rules,
                                      StagingProgress& progress, const std::stop_token& stop);

}  // namespace podium
