// What the coordinator takes of a run that is logged through MLflow's API, so that an import is refused
// before anything of it is written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace podium::cli {

// Characters of UTF-8.
inline constexpr std::size_t kLongestExperimentName = 500, kLongestRunName = 250, kLongestParameter = 6000,
                             kLongestTag = 8000;
inline constexpr std::size_t kMostRunMetrics = 20'000, kMostRunParameters = 10'000;
inline constexpr std::size_t kMostRunText = 30 << 20;  // bytes of its parameters; some are left to its tags
inline constexpr std::size_t kMostRuns = 10'000;       // of one import, which finds and tells each

bool is_longer(std::string_view text, std::size_t characters);

// With U+FFFD for what is no UTF-8.
std::string valid_text(const std::string& text);

// These throw Failure. `what` is "run" or "experiment".
void check_name(const char* what, const std::string& name, std::size_t longest);
void check_count(const std::string& run, const char* what, std::size_t count, std::size_t most,
                 const char* remedy = "");

}  // namespace podium::cli
