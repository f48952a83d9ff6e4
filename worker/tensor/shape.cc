#include "worker/tensor/shape.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {

Shape::Shape(std::initializer_list<std::int64_t> extents) : rank_(static_cast<int>(extents.size())) {
  PODIUM_CHECK(rank_ <= kMaxRank, "a tensor has at most four axes");
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

Shape Shape::with(int axis, std::int64_t extent) const {
  Shape changed = *this;
  changed.extents_[static_cast<std::size_t>(axis)] = extent;
  return changed;
}

std::int64_t Shape::size() const {
  std::int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
  return product;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace podium
