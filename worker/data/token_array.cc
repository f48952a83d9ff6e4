#include "worker/data/token_array.h"

namespace podium {

void TokenArray::append(std::span<const std::int32_t> ids) {
  if (narrow_) {
    for (const std::int32_t id : ids) narrow_ids_.push_back(static_cast<std::uint16_t>(id));
  } else {
    wide_ids_.insert(wide_ids_.end(), ids.begin(), ids.end());
  }
}

}  // namespace podium
