// The rules about training for 8-bit and sparse inference.
#include <spdlog/fmt/fmt.h>

#include "common/model/layout_rules.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

const std::string kQuantise = "/training/quantise", kSparse = "/training/sparse";

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

}  // namespace

void check_compression(const Facts& facts, Problems& problems) {
  check_quantise(facts, problems);
  check_sparse(facts, problems);
}

}  // namespace podium
