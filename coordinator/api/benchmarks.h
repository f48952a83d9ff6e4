// The runs of each benchmark that have reached their target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coordinator/store/reader.h"

namespace podium {

using Benchmarks = std::map<std::string, std::vector<BoardRun>>;  // by identity

Benchmarks read_board(Reader& reader);

}  // namespace podium
