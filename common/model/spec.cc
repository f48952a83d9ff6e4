#include "common/model/spec.h"

#include <charconv>

#include "common/base/units.h"
#include "common/model/codec.h"
#include "common/model/spec_parts.h"
#include "common/model/spec_wire.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<Processes, 2> kProcesses{{{Processes::device, "device"}, {Processes::node, "node"}}};

json parallel_json(const ParallelSpec& parallel) {
  return {{"tensor", parallel.tensor},
          {"pipeline", parallel.pipeline},
          {"interleave", parallel.interleave},
          {"sequence", parallel.sequence},
          {"distributed_optimizer", parallel.distributed_optimizer}};
}

ParallelSpec parallel_from(const json& in) {
  ParallelSpec parallel;
  parallel.tensor = in.at("tensor");
  parallel.pipeline = in.at("pipeline");
  parallel.interleave = in.value("interleave", 1);
  parallel.sequence = in.value("sequence", false);
  parallel.distributed_optimizer = in.value("distributed_optimizer", false);
  return parallel;
}

json target_json(const TargetSpec& target) {
  json out{{"metric", target.metric}};
  if (target.at_least) out["at_least"] = *target.at_least;
  if (target.at_most) out["at_most"] = *target.at_most;
  return out;
}

TargetSpec target_from(const json& in) {
  TargetSpec target;
  target.metric = in.at("metric");
  if (in.contains("at_least")) target.at_least = in.at("at_least").get<double>();
  if (in.contains("at_most")) target.at_most = in.at("at_most").get<double>();
  if (target.at_least.has_value() == target.at_most.has_value())
    throw std::invalid_argument("target needs exactly one of at_least and at_most");
  return target;
}

json squad_answer_json(const SquadAnswerSpec& squad) {
  return {{"n_best", squad.n_best},
          {"answer_length", squad.answer_length},
          {"null_threshold", squad.null_threshold}};
}

SquadAnswerSpec squad_answer_from(const json& in) {
  SquadAnswerSpec squad;
  squad.n_best = in.value("n_best", squad.n_best);
  squad.answer_length = in.value("answer_length", squad.answer_length);
  squad.null_threshold = in.value("null_threshold", squad.null_threshold);
  return squad;
}

}  // namespace

std::string steps_text(std::int64_t steps) { return std::to_string(steps) + " steps"; }

std::int64_t steps_from(const json& value, const char* field) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc{} || (unit != " steps" && unit != " step"))
    throw std::invalid_argument(std::string(field) + " must read like \"200 steps\", not \"" + text + "\"");
  return steps;
}

Duration duration_from(const json& value, const char* field) {
  const auto& text = value.get_ref<const std::string&>();
  const auto duration = parse_duration(text);
  if (!duration)
    throw std::invalid_argument(std::string(field) + " must read like \"72h\", not \"" + text + "\"");
  return *duration;
}

std::string_view to_string(Processes value) { return enum_name(kProcesses, value); }

json after_json(const std::vector<Dependency>& after) {
  json out = json::array();
  for (const Dependency& on : after) out.push_back({{"job", on.job.value}, {"when", to_string(on.when)}});
  return out;
}

std::vector<Dependency> after_from(const json& in) {
  std::vector<Dependency> after;
  for (const json& on : in)
    after.push_back({{on.at("job").get<std::int64_t>()}, when_from(on.value("when", std::string("ok")))});
  return after;
}

namespace {

// 8, or {"min": 4, "max": 16} of an elastic job.
json devices_json(const ResourcesSpec& resources) {
  if (resources.max_devices == 0) return resources.devices;
  return {{"min", resources.devices}, {"max", resources.max_devices}};
}

void read_devices(const json& in, ResourcesSpec& resources) {
  const bool elastic = in.is_object();
  resources.devices = elastic ? in.at("min") : in;
  if (elastic) resources.max_devices = in.at("max");
}

// The command and what only a command has.
void write_program(const JobSpec& spec, json& out) {
  out["command"] = spec.command;
  if (spec.processes != Processes::device) out["processes"] = to_string(spec.processes);
  if (!spec.workdir.empty()) out["workdir"] = spec.workdir;
  if (!spec.env.empty()) out["env"] = spec.env;
  if (!spec.parameters.empty()) out["parameters"] = spec.parameters;
  if (spec.launcher != Launcher::none) out["launcher"] = to_string(spec.launcher);
  if (!spec.metrics.empty()) out["metrics"] = to_json(spec.metrics);
  if (spec.container) out["container"] = to_json(*spec.container);
  for (const InputSpec& input : spec.inputs) out["inputs"].push_back(to_json(input));
  if (!spec.outputs.empty()) out["outputs"] = spec.outputs;
  if (!spec.code) return;
  out["code"] = {{"folder", spec.code->folder}};
  if (!spec.code->git.empty()) out["code"]["git"] = spec.code->git;
  if (!spec.code->commit.empty()) out["code"]["commit"] = spec.code->commit;
  if (!spec.code->snapshot.empty()) out["code"]["snapshot"] = spec.code->snapshot;
}

void read_program(const json& in, JobSpec& spec) {
  spec.command = in.at("command").get<std::vector<std::string>>();
  spec.processes = enum_value(kProcesses, in.value("processes", "device"), "processes");
  spec.workdir = in.value("workdir", "");
  spec.env = in.value("env", spec.env);
  spec.parameters = in.value("parameters", spec.parameters);
  spec.launcher = launcher_from(in.value("launcher", std::string("none")));
  if (in.contains("metrics")) spec.metrics = metrics_spec_from_json(in["metrics"]);
  if (in.contains("container")) spec.container = container_spec_from_json(in["container"]);
  for (const json& input : in.value("inputs", json::array()))
    spec.inputs.push_back(input_spec_from_json(input));
  spec.outputs = in.value("outputs", spec.outputs);
  if (!in.contains("code")) return;
  const json& code = in["code"];
  spec.code = {code.at("folder"), code.value("git", ""), code.value("commit", ""),
               code.value("snapshot", "")};
}

void write_service(const JobSpec& spec, json& out) {
  out["task"] = kServeTask;
  out["model"] = {{"init", init_json(spec.model)}};
  out["serve"] = serve_json(*spec.serve);
  out["replicas"] = replicas_json(spec.serve->replicas);
}

void read_service(const json& in, JobSpec& spec) {
  if (in.at("task") != kServeTask) throw std::invalid_argument("task cannot be " + in.at("task").dump());
  read_init(in.at("model"), spec.model);
  spec.serve = serve_spec_from_json(in.at("serve"), in.at("replicas"));
}

}  // namespace

json to_json(const JobSpec& spec) {
  json out{{"version", 1},
           {"name", spec.name},
           {"labels", spec.labels},
           {"resources",
            {{"devices", devices_json(spec.resources)},
             {"per_node", spec.resources.per_node},
             {"kind", spec.resources.kind},
             {"nodes", spec.resources.nodes},
             {"within", to_string(spec.resources.within)},
             {"walltime", format_duration(spec.resources.walltime)}}},
           {"priority", spec.priority},
           {"account", spec.account}};
  if (spec.target) out["target"] = target_json(*spec.target);
  if (!spec.after.empty()) out["after"] = after_json(spec.after);
  if (spec.serve) {
    write_service(spec, out);
    return out;
  }
  out["restarts"] = {{"max", spec.max_restarts}};
  if (spec.stop != StopSpec{}) out["stop"] = to_json(spec.stop);
  if (spec.resume) out["resume"] = {{"job", spec.resume->value}};
  if (!spec.command.empty()) {
    write_program(spec, out);
    return out;
  }
  out["model"] = model_json(spec.model);
  out["data"] = data_json(spec.data);
  out["training"] = training_json(spec.training);
  out["parallel"] = parallel_json(spec.parallel);
  out["checkpoint"] = {{"every", steps_text(spec.checkpoint.every)},
                       {"keep", spec.checkpoint.keep},
                       {"best", spec.checkpoint.best.empty() ? kNoBest : spec.checkpoint.best},
                       {"begin_anew", spec.checkpoint.begin_anew}};
  out["evaluate"] = {{"every", steps_text(spec.evaluate.every)}, {"sequences", spec.evaluate.sequences}};
  if (!spec.evaluate.data.empty()) out["evaluate"]["data"] = spec.evaluate.data;
  if (spec.training.task == TrainingTask::squad)
    out["evaluate"]["squad"] = squad_answer_json(spec.evaluate.squad);
  if (spec.mlperf) out["mlperf"] = to_json(*spec.mlperf);
  return out;
}

json to_wire_json(const JobSpec& spec) {
  json out = to_json(spec);
  if (!out.contains("model") || !out["model"].contains("init") || !out["model"]["init"].is_object())
    return out;
  json& model = out["model"];
  if (spec.model.init_job) {
    model[kInitFrom] = model["init"];
    model.erase("init");
  } else {
    model["init"] = spec.model.init;
    model[kInitXxh3] = spec.model.init_xxh3;
  }
  return out;
}

JobSpec job_spec_from_json(const json& in) {
  JobSpec spec;
  spec.name = in.at("name");
  spec.labels = in.value("labels", std::map<std::string, std::string>{});
  const json& resources = in.at("resources");
  read_devices(resources.at("devices"), spec.resources);
  spec.resources.per_node = resources.at("per_node");
  spec.resources.kind = resources.at("kind");
  spec.resources.nodes = resources.value("nodes", spec.resources.nodes);
  spec.resources.within = within_from(resources.value("within", "anywhere"));
  spec.resources.walltime = duration_from(resources.at("walltime"), "resources.walltime");
  spec.priority = in.at("priority");
  spec.account = in.value("account", JobSpec{}.account);
  if (in.contains("target")) spec.target = target_from(in.at("target"));
  if (in.contains("after")) spec.after = after_from(in.at("after"));
  if (in.contains("task")) {
    read_service(in, spec);
    return spec;
  }
  spec.max_restarts = in.at("restarts").at("max");
  if (in.contains("stop")) spec.stop = stop_spec_from_json(in["stop"]);
  if (in.contains("resume")) spec.resume = JobId{in.at("resume").at("job").get<std::int64_t>()};
  if (in.contains("command")) {
    read_program(in, spec);
    return spec;
  }
  spec.model = model_from(in.at("model"));
  spec.data = data_from(in.at("data"));
  spec.training = training_from(in.at("training"));
  spec.parallel = parallel_from(in.at("parallel"));
  spec.checkpoint.every = steps_from(in.at("checkpoint").at("every"), "checkpoint.every");
  spec.checkpoint.keep = in.at("checkpoint").at("keep");
  spec.checkpoint.best = in.at("checkpoint").value("best", kNoBest);
  if (spec.checkpoint.best == kNoBest) spec.checkpoint.best.clear();
  spec.checkpoint.begin_anew = in.at("checkpoint").value("begin_anew", false);
  spec.evaluate.every = steps_from(in.at("evaluate").at("every"), "evaluate.every");
  spec.evaluate.data = in.at("evaluate").value("data", "");
  spec.evaluate.sequences = in.at("evaluate").at("sequences");
  spec.evaluate.squad = squad_answer_from(in.at("evaluate").value("squad", json::object()));
  if (in.contains("mlperf")) spec.mlperf = mlperf_spec_from_json(in["mlperf"]);
  return spec;
}

}  // namespace podium
