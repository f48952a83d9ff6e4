// What MLPerf's log says of a training before it begins: who measures, and the hyperparameters by MLPerf's
// names. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/model/spec.h"

namespace podium {

using MlperfValues = std::vector<std::pair<std::string, nlohmann::json>>;

// `platform` where the spec names none; `copies`: data-parallel ranks. The spec has mlperf.
MlperfValues mlperf_header(const JobSpec& spec, const std::string& platform, int copies);

// What the benchmark's logs count in epoch_num: sequences, of GPT-3 tokens.
std::int64_t mlperf_epoch(const JobSpec& spec, std::int64_t sequences);

}  // namespace podium
