// Numbers the model's dropouts, so that each draws masks of its own, and draws the same masks wherever its
// layer is computed. No two may share a number, and none may change: a run that resumes from an older
// checkpoint must draw the masks that it would have drawn.
#pragma once

#include <cstdint>

namespace podium {

inline constexpr std::uint32_t kEmbeddingDropoutSite = 0;
inline constexpr std::uint32_t kSequenceHeadDropoutSite = 1;

struct LayerDropoutSites {
  std::uint32_t attention;  // its probabilities
  std::uint32_t attention_output;
  std::uint32_t feed_forward_output;
};

// A layer has 16 numbers, of which it needs three.
constexpr LayerDropoutSites layer_dropout_sites(int layer) {
  const std::uint32_t first = 16 * static_cast<std::uint32_t>(layer + 1);
  return {first, first + 1, first + 2};
}

}  // namespace podium
