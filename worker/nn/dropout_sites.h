// Numbers the model's dropouts, so that each draws its own masks, the same wherever a layer is computed.
#pragma once

#include <cstdint>

namespace podium {

inline constexpr std::uint32_t kEmbeddingDropoutSite = 0;

// A layer has 16 sites from here on: 0 attention's probabilities, 1 its output, 2 feed-forward's output.
inline std::uint32_t first_dropout_site(int layer) { return 16 * static_cast<std::uint32_t>(layer + 1); }

}  // namespace podium
