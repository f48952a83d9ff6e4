// The code of a spec that a repository holds: the folder that it names, as the spec's commit has it, or the
// one under code.git.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "coordinator/specs/spec_sync.h"

namespace podium {

struct KeptCode {
  std::string sha256;
  std::string commit;  // that code.git means; "" without it
};

// Packs it and keeps it under `home`. Empty for a spec without code or with mistakes, which its submission
// tells. Throws where there is no room, or a disk fails: the look at the repository is then repeated.
Result<KeptCode> keep_spec_code(const SpecSubmission& submission, const std::filesystem::path& home);

}  // namespace podium
