// GPT-2's rule for cutting text into words before any merge (Radford et al., 2019). The words follow one
// another without a gap, so that nothing is lost.
#pragma once

#include <cstddef>
#include <string_view>

namespace podium {

// Bytes of the first word of `text`, which is valid UTF-8 and not empty: the first match of
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t first_bpe_word(std::string_view text);

}  // namespace podium
