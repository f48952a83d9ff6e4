// The body of POST /experiments and POST /validate.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"
#include "common/spec/load.h"

namespace podium {

struct Submission {
  std::string spec;    // YAML text
  std::string file;    // its name, for the places of mistakes
  std::string source;  // JSON: repository, commit, path, dirty; "" without
  std::string code;    // sha256 of the folder that the spec names under code, as it was packed; "" without
  std::string code_commit;               // that the spec's code.git meant then, in full; "" without
  std::optional<JobId> reproduces = {};  // the job that it repeats
};

constexpr std::size_t kMaxSubmission = 8 * kMaxSpecBytes;  // a spec's bytes take up to six each in JSON

Result<Submission> parse_submission(std::string_view body);

constexpr std::size_t kMostSubmissions = 1000;

// {"specs": [submission, …]}
Result<std::vector<Submission>> parse_submissions(std::string_view body);

}  // namespace podium
