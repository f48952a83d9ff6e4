#include "coordinator/store/run_words.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"

namespace podium {
namespace {

struct Word {
  JobState state;
  std::string_view status;
};

// Of several states of a status the first is meant by it.
constexpr std::array kWords{
    Word{JobState::queued, "SCHEDULED"},   Word{JobState::starting, "SCHEDULED"},
    Word{JobState::running, "RUNNING"},    Word{JobState::stopping, "RUNNING"},
    Word{JobState::succeeded, "FINISHED"}, Word{JobState::failed, "FAILED"},
    Word{JobState::cancelled, "KILLED"},   Word{JobState::stopped, "KILLED"},
};

constexpr const char* kArtifactFolder = "/artifacts";

}  // namespace

std::string_view run_status(JobState state) {
  const auto found = std::ranges::find(kWords, state, &Word::state);
  PODIUM_CHECK(found != kWords.end(), "unknown JobState");
  return found->status;
}

std::optional<JobState> state_of_run(std::string_view status) {
  const auto found = std::ranges::find(kWords, status, &Word::status);
  return found == kWords.end() ? std::nullopt : std::optional(found->state);
}

std::string run_status_sql(const std::string& column) {
  std::string sql = "CASE " + column;
  for (const Word& word : kWords)
    sql += " WHEN '" + std::string(to_string(word.state)) + "' THEN '" + std::string(word.status) + "'";
  return sql + " END";
}

std::string artifact_location(RunGroupId group, const std::string& given) {
  return given.empty() ? kArtifactScheme + std::to_string(group.value) : given;
}

std::string artifact_uri(RunGroupId group, const std::string& given, const std::string& run_id) {
  return artifact_location(group, given) + "/" + run_id + kArtifactFolder;
}

std::string artifact_uri_sql(const std::string& group, const std::string& given, const std::string& run_id) {
  return "(CASE " + given + " WHEN '' THEN '" + kArtifactScheme + "' || " + group + " ELSE " + given +
         " END || '/' || " + run_id + " || '" + kArtifactFolder + "')";
}

}  // namespace podium
