#include "common/model/mlperf_spec.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace podium {
namespace {

using nlohmann::json;

template <class Find, class Value>
void read_word(const json& in, const char* key, const Find& find, Value& into) {
  if (!in.contains(key)) return;
  const std::string word = in.at(key);
  const auto value = find(word);
  if (!value) throw std::invalid_argument("mlperf." + std::string(key) + " cannot be " + word);
  into = *value;
}

}  // namespace

json to_json(const MlperfSpec& spec) {
  json out{{"benchmark", to_string(spec.benchmark)},
           {"division", to_string(spec.division)},
           {"status", to_string(spec.status)},
           {"organisation", spec.organisation}};
  if (!spec.platform.empty()) out["platform"] = spec.platform;
  return out;
}

MlperfSpec mlperf_spec_from_json(const json& in) {
  MlperfSpec spec;
  read_word(in, "benchmark", mlperf::find_benchmark, spec.benchmark);
  read_word(in, "division", mlperf::find_division, spec.division);
  read_word(in, "status", mlperf::find_status, spec.status);
  spec.organisation = in.value("organisation", spec.organisation);
  spec.platform = in.value("platform", spec.platform);
  return spec;
}

}  // namespace podium
