// The section "training".
#include "common/model/codec.h"
#include "common/model/spec_parts.h"

namespace podium {
namespace {

using nlohmann::json;

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

}  // namespace

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
  if (training.distill) out["distill"] = to_json(*training.distill);
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
  if (in.contains("distill")) training.distill = distill_spec_from_json(in.at("distill"));
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

std::string_view to_string(TrainingTask value) { return enum_name(kTasks, value); }
std::string_view to_string(Precision value) { return enum_name(kPrecisions, value); }
std::string_view to_string(OptimizerKind value) { return enum_name(kOptimizers, value); }
std::string_view to_string(Decay value) { return enum_name(kDecays, value); }
std::string_view to_string(Recompute value) { return enum_name(kRecomputes, value); }

}  // namespace podium
