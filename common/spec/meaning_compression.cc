// The rules about training for 8-bit and sparse inference, and about what such a training learns of a
// teacher.
#include <spdlog/fmt/fmt.h>

#include "common/model/layout_rules.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

const std::string kQuantise = "/training/quantise", kSparse = "/training/sparse",
                  kDistill = "/training/distill";

// What podium-worker calibrate makes models for inference of.
void check_compressed_family(const Facts& facts, const std::string& key, Problems& problems) {
  const FamilyTraits* const family = named_family(facts);
  if (family == nullptr || family->family == ModelFamily::bert) return;
  problems.add_key(key, fmt::format("{} is for bert, which alone has inference in 8 bits and with pruned "
                                    "weights; leave it out of a training of {}",
                                    dotted(key), family->name()));
}

void check_quantise(const Facts& facts, Problems& problems) {
  if (!facts.has(kQuantise)) return;
  check_compressed_family(facts, kQuantise, problems);
  if (facts.flag("/training/fp8") == true)
    problems.add_key(kQuantise,
                     "training.quantise rounds the inputs of the products that training.fp8 computes in 8 "
                     "bits with other scales; keep one of the two");
  if (facts.flag("/training/stochastic_rounding") == true)
    problems.add_key(kQuantise,
                     "training.quantise rounds weights to nearest, as inference does, and "
                     "training.stochastic_rounding at random; keep one of the two");
}

void check_sparse(const Facts& facts, Problems& problems) {
  if (facts.text(kSparse) != to_string(Sparsity::two_of_four)) return;
  check_compressed_family(facts, kSparse, problems);
  const auto layout = layout_rules(facts, {"tensor"});
  if (!layout) return;
  for (const char* extent : {"/model/hidden", "/model/intermediate"})
    if (const auto whole = facts.integer(extent); whole && *whole % layout->sparse_unit() != 0)
      problems.add(kSparse, fmt::format("training.sparse needs {} ({}) to be a multiple of {} × "
                                        "parallel.tensor ({})",
                                        dotted(extent), *whole, kSparseMultiple, layout->tensor));
}

void check_distill(const Facts& facts, Problems& problems) {
  if (!facts.has(kDistill)) return;
  const auto task = facts.text("/training/task");
  if (task && task != to_string(TrainingTask::classify) && task != to_string(TrainingTask::squad))
    problems.add_key(kDistill,
                     fmt::format("training.distill is for the tasks classify and squad; leave it out "
                                 "of a training for {}",
                                 *task));
  if (!facts.has("/model/init") && !facts.has("/resume"))
    problems.add_key(
        kDistill,
        "training.distill learns from the weights that model.init names, and there is no model.init; "
        "write that of a model that was trained for the same task");
  if (facts.flag("/training/classify/regression") == true)
    problems.add_key(kDistill,
                     "training.distill learns scores of classes, and training.classify.regression has none; "
                     "keep one of the two");
  if (facts.has("/training/classify/class_weights"))
    problems.add_key(
        kDistill,
        "training.distill learns from all sequences alike, and training.classify.class_weights weighs "
        "them by their classes; keep one of the two");
}

}  // namespace

void check_compression(const Facts& facts, Problems& problems) {
  check_quantise(facts, problems);
  check_sparse(facts, problems);
  check_distill(facts, problems);
}

}  // namespace podium
