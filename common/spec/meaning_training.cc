// The rules about schedules, batches and evaluation, for every phase of the training.
#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

void check_warmup(const PhaseFacts& phase, Problems& problems) {
  const auto steps = phase.integer("/schedule/steps");
  const auto warmup = phase.number("/schedule/warmup");
  if (!warmup || *warmup < 1 || !phase.changes({"/schedule/steps", "/schedule/warmup"})) return;
  const std::string at = phase.pointer("/schedule/warmup");
  if (*warmup != std::floor(*warmup))
    problems.add(at,
                 fmt::format("{} ({}) must be a fraction of the steps below 1, or a whole number of steps",
                             dotted(at), *warmup));
  if (steps && *warmup >= static_cast<double>(*steps))
    problems.add(at, fmt::format("{} ({} steps) must be shorter than the schedule ({} steps)", dotted(at),
                                 *warmup, *steps));
}

void check_rate(const PhaseFacts& phase, Problems& problems) {
  const auto lr = phase.number("/optimizer/lr");
  const auto min_lr = phase.number("/schedule/min_lr");
  if (!lr || !min_lr || *min_lr <= *lr || !phase.changes({"/optimizer/lr", "/schedule/min_lr"})) return;
  const std::string at = phase.pointer("/schedule/min_lr");
  problems.add(at, fmt::format("{} ({}) must not be above {} ({})", dotted(at), *min_lr,
                               dotted(phase.pointer("/optimizer/lr")), *lr));
}

// The nearest multiples of `unit`, for a message.
std::string nearest_multiples(std::int64_t value, std::int64_t unit) {
  const std::int64_t below = value / unit * unit;
  return (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + unit) + " would do";
}

void check_batch(const Facts& facts, const PhaseFacts& phase, Problems& problems) {
  const auto global = phase.integer("/batch/global");
  const auto micro = phase.integer("/batch/micro");
  const auto devices = facts.integer("/resources/devices");
  const auto layout = layout_rules(facts, {"tensor", "pipeline"});
  if (!global || !micro || !devices || !layout || *devices % layout->devices_unit() != 0 ||
      !phase.changes({"/batch/global", "/batch/micro"}))
    return;
  const std::int64_t copies = *devices / layout->devices_unit(), unit = layout->batch_unit(*micro, copies);
  if (*global % unit == 0) return;
  const std::string at = phase.pointer("/batch/global");
  if (const std::int64_t together = *micro * copies; *global % together != 0)
    problems.add(
        at, fmt::format("{} ({}) must be a multiple of {}: {} sequences a micro batch on {} data "
                        "parallel devices; {}",
                        dotted(at), *global, together, *micro, copies, nearest_multiples(*global, unit)));
  else
    problems.add(at,
                 fmt::format("{} ({}) makes {} micro batches a step, which parallel.interleave needs to be a "
                             "multiple of parallel.pipeline ({}); {}",
                             dotted(at), *global, *global / together, layout->pipeline,
                             nearest_multiples(*global, unit)));
}

void check_length(const Facts& facts, const PhaseFacts& phase, Problems& problems) {
  const auto length = phase.integer("/sequence_length");
  const auto positions = facts.integer("/model/max_positions");
  const std::string at = phase.pointer("/sequence_length");
  if (length && positions && *length > *positions && phase.changes({"/sequence_length"}))
    problems.add(at, fmt::format("{} ({}) must not be above model.max_positions ({})", dotted(at), *length,
                                 *positions));
  const auto predictions = phase.integer("/masking/max_predictions");
  const std::string masking = phase.pointer("/masking/max_predictions");
  if (length && predictions && *predictions >= *length &&
      phase.changes({"/sequence_length", "/masking/max_predictions"}))
    problems.add(masking, fmt::format("{} ({}) must be below {} ({})", dotted(masking), *predictions,
                                      dotted(at), *length));
}

void check_evaluation(const Facts& facts, Problems& problems) {
  const bool has_data = facts.has("/evaluate/data");
  const bool never = !facts.has("/evaluate/every") || facts.steps("/evaluate/every") == 0;
  if (has_data && never)
    problems.add_missing("/evaluate/every",
                         "evaluate.data is given and evaluate.every is not, so it would never be read; "
                         "add \"every: 100 steps\"");
  if (!has_data && !never)
    problems.add_missing("/evaluate/data",
                         "evaluate.every is given and evaluate.data is not; name the held-out text");
}

// Settings that compute in fewer bits than 16, or round to 16, need a precision of 16 bits.
void check_precision(const Facts& facts, Problems& problems) {
  if (facts.text("/training/precision") != "fp32") return;
  if (facts.flag("/training/fp8") == true)
    problems.add("/training/fp8",
                 "training.fp8 computes in 8 bits beside 16; set training.precision to bf16 or fp16, or "
                 "leave fp8 out");
  if (facts.flag("/training/stochastic_rounding") == true)
    problems.add("/training/stochastic_rounding",
                 "training.stochastic_rounding rounds weights to 16 bits; set training.precision to bf16 or "
                 "fp16, or leave it out");
}

void check_timed_products(const Facts& facts, Problems& problems) {
  if (facts.flag("/training/timed_products") == true && facts.text("/resources/kind") == "cpu")
    problems.add(
        "/training/timed_products",
        "training.timed_products chooses among a GPU's algorithms; set resources.kind to gpu, or leave "
        "it out");
}

}  // namespace

void check_training(const Facts& facts, Problems& problems) {
  if (!facts.has("/training")) return;
  for (const PhaseFacts& phase : phases_of(facts)) {
    check_warmup(phase, problems);
    check_rate(phase, problems);
    check_batch(facts, phase, problems);
    check_length(facts, phase, problems);
  }
  check_precision(facts, problems);
  check_timed_products(facts, problems);
  check_evaluation(facts, problems);
}

}  // namespace podium
