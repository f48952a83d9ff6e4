#include "worker/train/mlperf_header.h"

#include <cmath>

namespace podium {
namespace {

using mlperf::Benchmark;

std::int64_t warmup_steps(const ScheduleSpec& schedule) {
  const double steps =
      schedule.warmup < 1 ? schedule.warmup * static_cast<double>(schedule.steps) : schedule.warmup;
  return std::llround(steps);
}

MlperfValues bert_values(const TrainingSpec& training) {
  const OptimizerSpec& optimizer = training.optimizer;
  const std::int64_t warmup = warmup_steps(training.schedule);
  return {{"opt_lamb_epsilon", optimizer.epsilon},
          {"opt_epsilon", optimizer.epsilon},
          {"opt_lamb_beta_1", optimizer.beta1},
          {"opt_lamb_beta_2", optimizer.beta2},
          {"opt_lamb_weight_decay_rate", optimizer.weight_decay},
          {"opt_lamb_learning_rate_decay_poly_power", training.schedule.power},
          {"opt_learning_rate_training_steps", training.schedule.steps},
          {"opt_learning_rate_warmup_steps", warmup},
          {"num_warmup_steps", warmup},
          {"start_warmup_step", 0}};
}

MlperfValues gpt3_values(const TrainingSpec& training) {
  const OptimizerSpec& optimizer = training.optimizer;
  return {{"opt_name", "adam"},
          {"opt_end_learning_rate", training.schedule.min_lr},
          {"opt_learning_rate_decay_steps", training.schedule.steps},
          {"opt_learning_rate_warmup_steps", warmup_steps(training.schedule)},
          {"opt_learning_rate_decay_schedule",
           std::string(to_string(training.schedule.decay)) + " with linear warmup"},
          {"opt_adam_beta_1", optimizer.beta1},
          {"opt_adam_beta_2", optimizer.beta2},
          {"opt_adam_epsilon", optimizer.epsilon},
          {"opt_weight_decay", optimizer.weight_decay},
          {"opt_gradient_clip_norm", optimizer.clip}};
}

}  // namespace

MlperfValues mlperf_header(const JobSpec& spec, const std::string& platform, int copies) {
  const MlperfSpec& mlperf = *spec.mlperf;
  const TrainingSpec& training = spec.training;
  MlperfValues values{
      {"submission_benchmark", to_string(mlperf.benchmark)},
      {"submission_org", mlperf.organisation},
      {"submission_division", to_string(mlperf.division)},
      {"submission_status", to_string(mlperf.status)},
      {"submission_platform", mlperf.platform.empty() ? platform : mlperf.platform},
      {"seed", training.seed},
      {"global_batch_size", training.batch.global},
      {"gradient_accumulation_steps", training.batch.global / (training.batch.micro * copies)},
      {"max_sequence_length", training.sequence_length},
      {"opt_base_learning_rate", training.optimizer.lr}};
  const MlperfValues more =
      mlperf.benchmark == Benchmark::bert ? bert_values(training) : gpt3_values(training);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

std::int64_t mlperf_epoch(const JobSpec& spec, std::int64_t sequences) {
  return spec.mlperf->benchmark == Benchmark::bert ? sequences : sequences * spec.training.sequence_length;
}

}  // namespace podium
