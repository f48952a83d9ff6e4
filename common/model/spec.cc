#include "common/model/spec.h"

#include <charconv>

#include "common/base/units.h"
#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<ModelFamily, 2> kFamilies{{{ModelFamily::bert, "bert"}, {ModelFamily::gpt, "gpt"}}};
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
  if (!model.preset.empty()) out["preset"] = model.preset;
  return out;
}

ModelSpec model_from(const json& in) {
  ModelSpec model;
  model.family = enum_value(kFamilies, in.at("family").get<std::string>(), "model.family");
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
  return model;
}

json data_json(const DataSpec& data) {
  const TokenizerSpec& tokenizer = data.tokenizer;
  json tokens = tokenizer.wordpiece.empty()
                    ? json{{"bpe", {{"vocab", tokenizer.bpe_vocab}, {"merges", tokenizer.bpe_merges}}}}
                    : json{{"wordpiece", tokenizer.wordpiece}, {"lowercase", tokenizer.lowercase}};
  return {{"train", data.train}, {"tokenizer", std::move(tokens)}};
}

DataSpec data_from(const json& in) {
  DataSpec data;
  const json& train = in.at("train");
  data.train =
      train.is_string() ? std::vector{train.get<std::string>()} : train.get<std::vector<std::string>>();
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

json training_json(const TrainingSpec& training) {
  const OptimizerSpec& optimizer = training.optimizer;
  const ScheduleSpec& schedule = training.schedule;
  return {{"task", to_string(training.task)},
          {"precision", to_string(training.precision)},
          {"optimizer",
           {{"name", to_string(optimizer.name)},
            {"lr", optimizer.lr},
            {"weight_decay", optimizer.weight_decay},
            {"beta1", optimizer.beta1},
            {"beta2", optimizer.beta2},
            {"epsilon", optimizer.epsilon},
            {"clip", optimizer.clip}}},
          {"schedule",
           {{"steps", schedule.steps},
            {"warmup", schedule.warmup},
            {"decay", to_string(schedule.decay)},
            {"power", schedule.power},
            {"min_lr", schedule.min_lr}}},
          {"batch", {{"global", training.batch.global}, {"micro", training.batch.micro}}},
          {"sequence_length", training.sequence_length},
          {"masking",
           {{"probability", training.masking.probability},
            {"max_predictions", training.masking.max_predictions},
            {"whole_word", training.masking.whole_word}}},
          {"seed", training.seed},
          {"log_every", steps_text(training.log_every)}};
}

TrainingSpec training_from(const json& in) {
  TrainingSpec training;
  training.task = enum_value(kTasks, in.at("task").get<std::string>(), "training.task");
  training.precision = enum_value(kPrecisions, in.at("precision").get<std::string>(), "training.precision");
  const json& optimizer = in.at("optimizer");
  training.optimizer.name =
      enum_value(kOptimizers, optimizer.at("name").get<std::string>(), "training.optimizer.name");
  training.optimizer.lr = optimizer.at("lr");
  training.optimizer.weight_decay = optimizer.at("weight_decay");
  training.optimizer.beta1 = optimizer.at("beta1");
  training.optimizer.beta2 = optimizer.at("beta2");
  training.optimizer.epsilon = optimizer.at("epsilon");
  training.optimizer.clip = optimizer.at("clip");
  const json& schedule = in.at("schedule");
  training.schedule.steps = schedule.at("steps");
  training.schedule.warmup = schedule.at("warmup");
  training.schedule.decay =
      enum_value(kDecays, schedule.at("decay").get<std::string>(), "training.schedule.decay");
  training.schedule.power = schedule.at("power");
  training.schedule.min_lr = schedule.at("min_lr");
  training.batch.global = in.at("batch").at("global");
  training.batch.micro = in.at("batch").at("micro");
  training.sequence_length = in.at("sequence_length");
  training.masking.probability = in.at("masking").at("probability");
  training.masking.max_predictions = in.at("masking").at("max_predictions");
  training.masking.whole_word = in.at("masking").at("whole_word");
  training.seed = in.at("seed");
  training.log_every = steps_from(in.at("log_every"), "training.log_every");
  return training;
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

std::string_view to_string(ModelFamily value) { return enum_name(kFamilies, value); }
std::string_view to_string(TrainingTask value) { return enum_name(kTasks, value); }
std::string_view to_string(Precision value) { return enum_name(kPrecisions, value); }
std::string_view to_string(OptimizerKind value) { return enum_name(kOptimizers, value); }
std::string_view to_string(Decay value) { return enum_name(kDecays, value); }

json to_json(const JobSpec& spec) {
  json out{{"version", 1},
           {"name", spec.name},
           {"labels", spec.labels},
           {"resources",
            {{"devices", spec.resources.devices},
             {"per_node", spec.resources.per_node},
             {"kind", spec.resources.kind},
             {"walltime", format_duration(spec.resources.walltime)}}},
           {"restarts", {{"max", spec.max_restarts}}},
           {"priority", spec.priority}};
  if (spec.target) out["target"] = target_json(*spec.target);
  if (!spec.command.empty()) {
    out["command"] = spec.command;
    return out;
  }
  out["model"] = model_json(spec.model);
  out["data"] = data_json(spec.data);
  out["training"] = training_json(spec.training);
  out["parallel"] = {{"tensor", spec.parallel.tensor}, {"pipeline", spec.parallel.pipeline}};
  out["checkpoint"] = {{"every", steps_text(spec.checkpoint.every)}, {"keep", spec.checkpoint.keep}};
  out["evaluate"] = {{"every", steps_text(spec.evaluate.every)}, {"sequences", spec.evaluate.sequences}};
  if (!spec.evaluate.data.empty()) out["evaluate"]["data"] = spec.evaluate.data;
  return out;
}

JobSpec job_spec_from_json(const json& in) {
  JobSpec spec;
  spec.name = in.at("name");
  spec.labels = in.value("labels", std::map<std::string, std::string>{});
  const json& resources = in.at("resources");
  spec.resources.devices = resources.at("devices");
  spec.resources.per_node = resources.at("per_node");
  spec.resources.kind = resources.at("kind");
  spec.resources.walltime = duration_from(resources.at("walltime"), "resources.walltime");
  spec.max_restarts = in.at("restarts").at("max");
  spec.priority = in.at("priority");
  if (in.contains("target")) spec.target = target_from(in.at("target"));
  if (in.contains("command")) {
    spec.command = in.at("command").get<std::vector<std::string>>();
    return spec;
  }
  spec.model = model_from(in.at("model"));
  spec.data = data_from(in.at("data"));
  spec.training = training_from(in.at("training"));
  spec.parallel.tensor = in.at("parallel").at("tensor");
  spec.parallel.pipeline = in.at("parallel").at("pipeline");
  spec.checkpoint.every = steps_from(in.at("checkpoint").at("every"), "checkpoint.every");
  spec.checkpoint.keep = in.at("checkpoint").at("keep");
  spec.evaluate.every = steps_from(in.at("evaluate").at("every"), "evaluate.every");
  spec.evaluate.data = in.at("evaluate").value("data", "");
  spec.evaluate.sequences = in.at("evaluate").at("sequences");
  return spec;
}

}  // namespace podium
