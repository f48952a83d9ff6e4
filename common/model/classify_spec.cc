#include "common/model/classify_spec.h"

#include <nlohmann/json.hpp>

namespace podium {
namespace {

using nlohmann::json;

json column_json(const ColumnSpec& column) {
  if (column.number > 0) return column.number;
  return column.name;
}

ColumnSpec column_from(const json& in) {
  if (in.is_number_integer()) return {.number = in};
  return {.name = in};
}

}  // namespace

json to_json(const ClassifySpec& spec) {
  json out{{"header", spec.header},
           {"sentence", column_json(spec.sentence)},
           {"label", column_json(spec.label)},
           {"regression", spec.regression},
           {"dropout", spec.dropout}};
  if (spec.pair) out["pair"] = column_json(*spec.pair);
  if (!spec.labels.empty()) out["labels"] = spec.labels;
  if (spec.balanced) out["class_weights"] = "balanced";
  if (!spec.class_weights.empty()) out["class_weights"] = spec.class_weights;
  return out;
}

ClassifySpec classify_spec_from_json(const json& in) {
  ClassifySpec spec;
  spec.header = in.value("header", spec.header);
  if (in.contains("sentence")) spec.sentence = column_from(in.at("sentence"));
  if (in.contains("label")) spec.label = column_from(in.at("label"));
  if (in.contains("pair")) spec.pair = column_from(in.at("pair"));
  spec.labels = in.value("labels", spec.labels);
  spec.regression = in.value("regression", spec.regression);
  spec.dropout = in.value("dropout", spec.dropout);
  if (!in.contains("class_weights")) return spec;
  spec.balanced = in.at("class_weights").is_string();
  if (!spec.balanced) spec.class_weights = in.at("class_weights").get<std::vector<double>>();
  return spec;
}

}  // namespace podium
