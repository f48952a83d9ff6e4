// What a training says of itself where it is measured as MLPerf measures: its worker writes MLPerf's log.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/mlperf/benchmark.h"

namespace podium {

struct MlperfSpec {
  mlperf::Benchmark benchmark = mlperf::Benchmark::bert;
  mlperf::Division division = mlperf::Division::closed;
  mlperf::Status status = mlperf::Status::onprem;
  std::string organisation = "unnamed";
  std::string platform;  // "": named after the devices

  bool operator==(const MlperfSpec&) const = default;
};

nlohmann::json to_json(const MlperfSpec& spec);
// What is absent is as above. Throws std::invalid_argument naming a word that it does not know.
MlperfSpec mlperf_spec_from_json(const nlohmann::json& json);

}  // namespace podium
