// The code that a spec names: a folder as it lies beside the spec's file, or as a commit of its repository
// has it.
#pragma once

#include <optional>
#include <string>

#include "cli/spec_file.h"
#include "common/net/code_snapshot.h"

namespace podium::cli {

struct SpecCode {
  CodeSnapshot snapshot;
  std::string commit;  // in full; "" for the files as they lie
};

// Of the spec at `path`, which may be "-". Nothing for a spec without code, with code that is packed already,
// or with mistakes, which the coordinator tells. Throws Failure.
std::optional<SpecCode> pack_spec_code(const SpecFile& spec, const std::string& path);

}  // namespace podium::cli
