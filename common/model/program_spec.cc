#include "common/model/program_spec.h"

#include <nlohmann/json.hpp>

#include "common/base/units.h"
#include "common/model/codec.h"
#include "common/model/spec_parts.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<Launcher, 2> kLaunchers{{{Launcher::none, "none"}, {Launcher::torchrun, "torchrun"}}};

}  // namespace

std::string_view to_string(Launcher value) { return enum_name(kLaunchers, value); }

Launcher launcher_from(const std::string& name) { return enum_value(kLaunchers, name, "launcher"); }

json to_json(const MetricsSpec& metrics) {
  json out = json::object();
  if (!metrics.parsers.empty()) out["parsers"] = metrics.parsers;
  if (!metrics.regex.empty()) out["regex"] = metrics.regex;
  return out;
}

MetricsSpec metrics_spec_from_json(const json& in) {
  MetricsSpec metrics;
  metrics.parsers = in.value("parsers", metrics.parsers);
  metrics.regex = in.value("regex", metrics.regex);
  return metrics;
}

json to_json(const ContainerSpec& container) {
  json out{{"image", container.image}};
  if (!container.mounts.empty()) out["mounts"] = container.mounts;
  if (!container.env.empty()) out["env"] = container.env;
  if (!container.runtime.empty()) out["runtime"] = container.runtime;
  return out;
}

ContainerSpec container_spec_from_json(const json& in) {
  ContainerSpec container;
  container.image = in.at("image");
  container.mounts = in.value("mounts", container.mounts);
  container.env = in.value("env", container.env);
  container.runtime = in.value("runtime", "");
  return container;
}

json to_json(const StopSpec& stop) {
  json out{{"grace", format_duration(stop.grace)}};
  if (stop.signal != StopSpec{}.signal) out["signal"] = stop.signal;
  if (stop.before_walltime > Duration{0}) out["before_walltime"] = format_duration(stop.before_walltime);
  return out;
}

StopSpec stop_spec_from_json(const json& in) {
  StopSpec stop;
  if (in.contains("grace")) stop.grace = duration_from(in["grace"], "stop.grace");
  stop.signal = in.value("signal", stop.signal);
  if (in.contains("before_walltime"))
    stop.before_walltime = duration_from(in["before_walltime"], "stop.before_walltime");
  return stop;
}

json to_json(const InputSpec& input) {
  json out{{"from", input.from}, {"to", input.to}};
  if (!input.sha256.empty()) out["sha256"] = input.sha256;
  return out;
}

InputSpec input_spec_from_json(const json& in) {
  return {in.at("from"), in.at("to"), in.value("sha256", "")};
}

}  // namespace podium
