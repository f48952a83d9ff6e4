// What podium mlperf prints of logs and results, and the rows that it publishes of them. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "common/mlperf/score.h"

namespace podium::cli {

struct NamedLog {
  std::string file;
  mlperf::Log log;
};

// {"file","round","benchmark","division","holds","findings":[{"line","rule","message"}]}; benchmark and
// division are null where the log does not say them, and line where a finding is of the whole log.
nlohmann::json verdict_json(const NamedLog& log, mlperf::Round round);
// The same without findings of how the run ended.
nlohmann::json without_outcome(nlohmann::json verdict);
std::string verdict_text(const nlohmann::json& verdict);

nlohmann::json to_json(const mlperf::Score& score, mlperf::Round round);
std::string score_text(const mlperf::Score& score, mlperf::Round round, const Terminal& terminal);

// A row of schemas/published.schema.json. Refused where the runs come to no time.
Result<nlohmann::json> published_row(const mlperf::Score& score, mlperf::Round round);

}  // namespace podium::cli
