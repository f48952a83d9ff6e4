#include "common/model/spec.h"

#include <charconv>

#include "common/base/units.h"
#include "common/model/codec.h"
#include "common/model/family.h"
#include "common/model/hash_text.h"
#include "common/model/spec_wire.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<ModelFamily, 3> kFamilyNames{
    {{ModelFamily::bert, "bert"}, {ModelFamily::gpt, "gpt"}, {ModelFamily::llama, "llama"}}};
constexpr EnumNames<TrainingTask, 4> kTasks{{{TrainingTask::pretrain, "pretrain"},
                                             {TrainingTask::squad, "squad"},
                                             {TrainingTask::classify, "classify"},
                                             {TrainingTask::lm, "lm"}}};
constexpr EnumNames<Precision, 3> kPrecisions{
    {{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}, {Precision::fp16, "fp16"}}};
constexpr EnumNames<OptimizerKind, 2> kOptimizers{
    {{OptimizerKind::adamw, "adamw"}, {OptimizerKind::lamb, "lamb"}}};
constexpr EnumNames<Decay, 4> kDecays{{{Decay::constant, "constant"},
                                       {Decay::linear, "linear"},
                                       {Decay::cosine, "cosine"},
                                       {Decay::poly, "poly"}}};
constexpr EnumNames<Recompute, 3> kRecomputes{
    {{Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}}};

constexpr char kInitFrom[] = "init_from", kInitXxh3[] = "init_xxh3";  // of to_wire_json()

constexpr EnumNames<Processes, 2> kProcesses{{{Processes::device, "device"}, {Processes::node, "node"}}};

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

// Null where the weights are drawn.
json init_json(const ModelSpec& model) {
  json out = model.init_job ? to_json(*model.init_job) : model.init.empty() ? json() : json(model.init);
  if (model.init_xxh3.empty()) return out;
  if (!model.init_job) out = {{"path", model.init}};
  out["xxh3"] = model.init_xxh3;
  return out;
}

json model_json(const ModelSpec& model) {
  json out{{"family", to_string(model.family)},
           {"layers", model.layers},
           {"hidden", model.hidden},
           {"heads", model.heads},
           {"intermediate", model.intermediate},
           {"vocab", model.vocab},
           {"max_positions", model.max_positions},
           {"dropout", model.dropout},
           {"attention_dropout", model.attention_dropout},
           {"initializer_range", model.initializer_range}};
  if (traits_of(model.family).rotary) {
    out["key_value_heads"] = model.key_heads();
    out["rope_theta"] = model.rope_theta;
    if (model.tie_embeddings) out["tie_embeddings"] = true;
  }
  if (!model.preset.empty()) out["preset"] = model.preset;
  if (const json init = init_json(model); !init.is_null()) out["init"] = init;
  return out;
}

void read_init(const json& in, ModelSpec& model) {
  const json init = in.value(in.contains(kInitFrom) ? kInitFrom : "init", json(""));
  model.init_xxh3 = in.value(kInitXxh3, "");
  if (init.is_string()) {
    model.init = init;
    return;
  }
  if (init.contains("path"))
    model.init = init.at("path");
  else
    model.init_job = job_checkpoint_from_json(init);
  model.init_xxh3 = init.value("xxh3", model.init_xxh3);
  if (!model.init_xxh3.empty() && !is_xxh3_text(model.init_xxh3))
    throw std::invalid_argument("model.init.xxh3 has 16 hexadecimal digits");
}

ModelSpec model_from(const json& in) {
  ModelSpec model;
  model.family = enum_value(kFamilyNames, in.at("family").get<std::string>(), "model.family");
  model.preset = in.value("preset", "");
  model.layers = in.at("layers");
  model.hidden = in.at("hidden");
  model.heads = in.at("heads");
  model.intermediate = in.at("intermediate");
  model.vocab = in.at("vocab");
  model.max_positions = in.at("max_positions");
  model.dropout = in.at("dropout");
  model.attention_dropout = in.at("attention_dropout");
  model.initializer_range = in.at("initializer_range");
  model.key_value_heads = in.value("key_value_heads", model.key_value_heads);
  model.rope_theta = in.value("rope_theta", model.rope_theta);
  model.tie_embeddings = in.value("tie_embeddings", model.tie_embeddings);
  read_init(in, model);
  return model;
}

json data_json(const DataSpec& data) {
  const TokenizerSpec& tokenizer = data.tokenizer;
  json tokens = tokenizer.wordpiece.empty()
                    ? json{{"bpe", {{"vocab", tokenizer.bpe_vocab}, {"merges", tokenizer.bpe_merges}}}}
                    : json{{"wordpiece", tokenizer.wordpiece}, {"lowercase", tokenizer.lowercase}};
  json train = data.train;
  for (std::size_t i = 0; i < data.weights.size(); ++i)
    train[i] = {{"path", data.train[i]}, {"weight", data.weights[i]}};
  return {{"train", std::move(train)}, {"tokenizer", std::move(tokens)}};
}

void read_train(const json& train, DataSpec& data) {
  for (const json& entry : train.is_array() ? train : json::array({train})) {
    data.train.push_back(entry.is_object() ? entry.at("path") : entry);
    if (entry.is_object()) data.weights.push_back(entry.at("weight"));
  }
  if (!data.weights.empty() && data.weights.size() != data.train.size())
    throw std::invalid_argument("data.train has weights for some of its entries only");
}

DataSpec data_from(const json& in) {
  DataSpec data;
  read_train(in.at("train"), data);
  const json& tokenizer = in.at("tokenizer");
  if (tokenizer.contains("bpe")) {
    data.tokenizer.bpe_vocab = tokenizer.at("bpe").at("vocab");
    data.tokenizer.bpe_merges = tokenizer.at("bpe").at("merges");
  } else {
    data.tokenizer.wordpiece = tokenizer.at("wordpiece");
    data.tokenizer.lowercase = tokenizer.at("lowercase");
  }
  return data;
}

json schedule_json(const ScheduleSpec& schedule) {
  return {{"steps", schedule.steps},
          {"warmup", schedule.warmup},
          {"decay", to_string(schedule.decay)},
          {"power", schedule.power},
          {"min_lr", schedule.min_lr}};
}

ScheduleSpec schedule_from(const json& in) {
  ScheduleSpec schedule;
  schedule.steps = in.at("steps");
  schedule.warmup = in.at("warmup");
  schedule.decay = enum_value(kDecays, in.at("decay").get<std::string>(), "schedule.decay");
  schedule.power = in.at("power");
  schedule.min_lr = in.at("min_lr");
  return schedule;
}

json batch_json(const BatchSpec& batch) { return {{"global", batch.global}, {"micro", batch.micro}}; }

BatchSpec batch_from(const json& in) { return {in.at("global"), in.at("micro")}; }

json optimizer_json(const OptimizerSpec& optimizer) {
  return {{"name", to_string(optimizer.name)},
          {"lr", optimizer.lr},
          {"weight_decay", optimizer.weight_decay},
          {"beta1", optimizer.beta1},
          {"beta2", optimizer.beta2},
          {"epsilon", optimizer.epsilon},
          {"clip", optimizer.clip}};
}

OptimizerSpec optimizer_from(const json& in) {
  OptimizerSpec optimizer;
  optimizer.name = enum_value(kOptimizers, in.at("name").get<std::string>(), "training.optimizer.name");
  optimizer.lr = in.at("lr");
  optimizer.weight_decay = in.at("weight_decay");
  optimizer.beta1 = in.at("beta1");
  optimizer.beta2 = in.at("beta2");
  optimizer.epsilon = in.at("epsilon");
  optimizer.clip = in.at("clip");
  return optimizer;
}

json phase_json(const PhaseSpec& phase) {
  return {{"schedule", schedule_json(phase.schedule)},
          {"optimizer", {{"lr", phase.lr}}},
          {"batch", batch_json(phase.batch)},
          {"sequence_length", phase.sequence_length},
          {"masking", {{"max_predictions", phase.max_predictions}}}};
}

PhaseSpec phase_from(const json& in) {
  PhaseSpec phase;
  phase.schedule = schedule_from(in.at("schedule"));
  phase.lr = in.at("optimizer").at("lr");
  phase.batch = batch_from(in.at("batch"));
  phase.sequence_length = in.at("sequence_length");
  phase.max_predictions = in.at("masking").at("max_predictions");
  return phase;
}

json squad_json(const SquadSpec& squad) {
  return {{"document_stride", squad.document_stride}, {"query_length", squad.query_length}};
}

SquadSpec squad_from(const json& in) {
  SquadSpec squad;
  squad.document_stride = in.value("document_stride", squad.document_stride);
  squad.query_length = in.value("query_length", squad.query_length);
  return squad;
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

json training_json(const TrainingSpec& training) {
  json out{{"task", to_string(training.task)},
           {"precision", to_string(training.precision)},
           {"fp8", training.fp8},
           {"stochastic_rounding", training.stochastic_rounding},
           {"optimizer", optimizer_json(training.optimizer)},
           {"schedule", schedule_json(training.schedule)},
           {"batch", batch_json(training.batch)},
           {"sequence_length", training.sequence_length},
           {"masking",
            {{"probability", training.masking.probability},
             {"max_predictions", training.masking.max_predictions},
             {"whole_word", training.masking.whole_word}}},
           {"seed", training.seed},
           {"log_every", steps_text(training.log_every)},
           {"recompute", to_string(training.recompute)},
           {"unpadded", training.unpadded},
           {"timed_products", training.timed_products}};
  if (training.quantise) out["quantise"] = to_json(*training.quantise);
  if (training.sparse != Sparsity::none) out["sparse"] = to_string(training.sparse);
  if (training.short_sequences != TrainingSpec{}.short_sequences)
    out["short_sequences"] = training.short_sequences;
  if (training.recompute_layers > 0) out["recompute_layers"] = training.recompute_layers;
  if (training.task == TrainingTask::squad) out["squad"] = squad_json(training.squad);
  if (training.task == TrainingTask::classify) out["classify"] = to_json(training.classify);
  for (const PhaseSpec& phase : training.phases) out["phases"].push_back(phase_json(phase));
  return out;
}

TrainingSpec training_from(const json& in) {
  TrainingSpec training;
  training.task = enum_value(kTasks, in.at("task").get<std::string>(), "training.task");
  training.precision = enum_value(kPrecisions, in.at("precision").get<std::string>(), "training.precision");
  training.fp8 = in.value("fp8", false);
  training.stochastic_rounding = in.value("stochastic_rounding", false);
  if (in.contains("quantise")) training.quantise = quantise_spec_from_json(in.at("quantise"));
  training.sparse = sparsity_from(in.value("sparse", std::string(to_string(Sparsity::none))));
  training.optimizer = optimizer_from(in.at("optimizer"));
  training.schedule = schedule_from(in.at("schedule"));
  training.batch = batch_from(in.at("batch"));
  training.sequence_length = in.at("sequence_length");
  training.masking.probability = in.at("masking").at("probability");
  training.masking.max_predictions = in.at("masking").at("max_predictions");
  training.masking.whole_word = in.at("masking").at("whole_word");
  training.short_sequences = in.value("short_sequences", TrainingSpec{}.short_sequences);
  training.squad = squad_from(in.value("squad", json::object()));
  training.classify = classify_spec_from_json(in.value("classify", json::object()));
  training.seed = in.at("seed");
  training.log_every = steps_from(in.at("log_every"), "training.log_every");
  training.recompute = enum_value(kRecomputes, in.value("recompute", "none"), "training.recompute");
  training.recompute_layers = in.value("recompute_layers", 0);
  training.unpadded = in.value("unpadded", false);
  training.timed_products = in.value("timed_products", false);
  for (const json& phase : in.value("phases", json::array())) training.phases.push_back(phase_from(phase));
  return training;
}

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

}  // namespace

std::string_view to_string(ModelFamily value) { return enum_name(kFamilyNames, value); }
std::string_view to_string(TrainingTask value) { return enum_name(kTasks, value); }
std::string_view to_string(Precision value) { return enum_name(kPrecisions, value); }
std::string_view to_string(OptimizerKind value) { return enum_name(kOptimizers, value); }
std::string_view to_string(Decay value) { return enum_name(kDecays, value); }
std::string_view to_string(Processes value) { return enum_name(kProcesses, value); }
std::string_view to_string(Recompute value) { return enum_name(kRecomputes, value); }

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
  if (!in.contains("code")) return;
  const json& code = in["code"];
  spec.code = {code.at("folder"), code.value("git", ""), code.value("commit", ""),
               code.value("snapshot", "")};
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
           {"restarts", {{"max", spec.max_restarts}}},
           {"priority", spec.priority},
           {"account", spec.account}};
  if (spec.target) out["target"] = target_json(*spec.target);
  if (!spec.after.empty()) out["after"] = after_json(spec.after);
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
  spec.max_restarts = in.at("restarts").at("max");
  spec.priority = in.at("priority");
  spec.account = in.value("account", JobSpec{}.account);
  if (in.contains("target")) spec.target = target_from(in.at("target"));
  if (in.contains("after")) spec.after = after_from(in.at("after"));
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
  return spec;
}

}  // namespace podium
