// The machines that the made-up driver library answers for.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/file.h"
#include "tests/paths.h"

namespace podium {

inline std::filesystem::path recording_path(const std::string& machine) {
  return test::source_path("tests/agent/device/recordings/" + machine + ".json");
}

inline nlohmann::json recording_of(const std::string& machine) {
  return nlohmann::json::parse(read_file(recording_path(machine)));
}

// What the library answers from now on, also in programs that are started later.
inline void play(const std::filesystem::path& recording) {
  ::setenv("FAKE_NVML_RECORDING", recording.c_str(), 1);
}
inline void play(const char* machine) { play(recording_path(machine)); }

}  // namespace podium
