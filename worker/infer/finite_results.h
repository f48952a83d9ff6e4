// Results that are no numbers: of damaged weights, or of a model too large for the precision it computes in.
#pragma once

#include <span>
#include <string>

namespace podium {

bool all_finite(std::span<const float> results);

// Throws BadData; `origin` names the text whose results they are.
[[noreturn]] void refuse_not_finite(const std::string& origin);

}  // namespace podium
