// The body of POST /experiments and POST /validate.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

struct Submission {
  std::string spec;    // YAML text
  std::string file;    // its name, for the places of mistakes
  std::string source;  // JSON: repository, commit, path, dirty; "" without
};

Result<Submission> parse_submission(std::string_view body);

}  // namespace podium
