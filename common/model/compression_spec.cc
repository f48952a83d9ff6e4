#include "common/model/compression_spec.h"

#include <nlohmann/json.hpp>

#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<QuantiseFormat, 2> kFormats{
    {{QuantiseFormat::int8, "int8"}, {QuantiseFormat::fp8, "fp8"}}};
constexpr EnumNames<Teacher, 1> kTeachers{{{Teacher::init, "init"}}};
constexpr EnumNames<Sparsity, 2> kSparsities{{{Sparsity::none, "none"}, {Sparsity::two_of_four, "2:4"}}};

}  // namespace

json to_json(const QuantiseSpec& spec) {
  json out{{"format", to_string(spec.format)}, {"range_decay", spec.range_decay}};
  if (!spec.ranges.empty()) out["ranges"] = spec.ranges;
  return out;
}

QuantiseSpec quantise_spec_from_json(const json& in) {
  QuantiseSpec spec;
  spec.format = enum_value(kFormats, in.value("format", std::string(to_string(spec.format))),
                           "training.quantise.format");
  spec.range_decay = in.value("range_decay", spec.range_decay);
  spec.ranges = in.value("ranges", spec.ranges);
  return spec;
}

json to_json(const DistillSpec& spec) {
  return {{"teacher", enum_name(kTeachers, spec.teacher)},
          {"weight", spec.weight},
          {"temperature", spec.temperature}};
}

DistillSpec distill_spec_from_json(const json& in) {
  DistillSpec spec;
  spec.teacher = enum_value(kTeachers, in.value("teacher", std::string(enum_name(kTeachers, spec.teacher))),
                            "training.distill.teacher");
  spec.weight = in.value("weight", spec.weight);
  spec.temperature = in.value("temperature", spec.temperature);
  return spec;
}

std::string_view to_string(QuantiseFormat value) { return enum_name(kFormats, value); }
std::string_view to_string(Sparsity value) { return enum_name(kSparsities, value); }
Sparsity sparsity_from(const std::string& name) { return enum_value(kSparsities, name, "training.sparse"); }

}  // namespace podium
