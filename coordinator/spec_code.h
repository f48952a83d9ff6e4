// The code of a spec in a repository: the folder that it names, as of the spec's commit or of the commit
// under code.git.
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

// Packs the code and keeps it under `home`. Empty for a spec without code, or with mistakes, which its
// submission reports. Throws where there is no room or a disk fails; the sync then repeats the commit.
Result<KeptCode> keep_spec_code(const SpecSubmission& submission, const std::filesystem::path& home);

}  // namespace podium
