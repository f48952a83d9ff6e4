// Shortens a pair of texts as the fine-tuning scripts of BERT's authors do (Devlin et al., 2018): the longer
// one loses its last token until both fit, the second where they are equally long.
#pragma once

#include <cstdint>
#include <vector>

namespace podium {

inline void cut_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t room) {
  while (first.size() + second.size() > room) (first.size() > second.size() ? first : second).pop_back();
}

}  // namespace podium
