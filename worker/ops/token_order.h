// Tokens in the order of what they ask for, so that those that ask for the same lie side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podium::ops {

// The numbers of the tokens, from the smallest value to the largest, of equal ones the earlier first.
std::vector<std::int32_t> token_order(std::span<const std::int32_t> values);

}  // namespace podium::ops
