#include "common/model/shape_differences.h"

#include <nlohmann/json.hpp>

#include "common/model/family.h"

namespace podium {

std::vector<ShapeDifference> shape_differences(const ModelSpec& theirs, const ModelSpec& ours) {
  std::vector<ShapeDifference> differences;
  const auto compare = [&](const char* key, const nlohmann::json& a, const nlohmann::json& b) {
    if (a != b) differences.push_back({key, a.dump(), b.dump()});
  };
  if (theirs.family != ours.family)
    differences.push_back(
        {"family", std::string(to_string(theirs.family)), std::string(to_string(ours.family))});
  compare("layers", theirs.layers, ours.layers);
  compare("hidden", theirs.hidden, ours.hidden);
  compare("heads", theirs.heads, ours.heads);
  compare("intermediate", theirs.intermediate, ours.intermediate);
  compare("max_positions", theirs.max_positions, ours.max_positions);
  if (traits_of(ours.family).rotary) {
    compare("key_value_heads", theirs.key_heads(), ours.key_heads());
    compare("rope_theta", theirs.rope_theta, ours.rope_theta);
    compare("tie_embeddings", theirs.tie_embeddings, ours.tie_embeddings);
  }
  if (ours.vocab > 0 && theirs.vocab > ours.vocab) compare("vocab", theirs.vocab, ours.vocab);
  return differences;
}

std::string describe(const std::vector<ShapeDifference>& differences) {
  std::string text;
  for (const ShapeDifference& one : differences)
    text += (text.empty() ? "model." : ", model.") + one.key + " is " + one.theirs + " there and " +
            one.ours + " here";
  return text;
}

std::string why_no_weights(const JobSpec& theirs, const JobSpec& ours) {
  if (!theirs.command.empty()) return "it runs a command, whose checkpoints are not podium-worker's";
  if (theirs.serve) return "it serves a model and writes no checkpoints";
  if (ours.model.init_job->choice == CheckpointChoice::best && theirs.checkpoint.best.empty())
    return "it keeps no best checkpoint; write \"checkpoint: newest\", or checkpoint.best there";
  return ours.serve ? "" : describe(shape_differences(theirs.model, ours.model));
}

}  // namespace podium
