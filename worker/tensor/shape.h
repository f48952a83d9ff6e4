// The extents of a dense row-major tensor, at most four of them, kept by value.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace podium {

class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  Shape with(int axis, std::int64_t extent) const;  // the same but for one axis
  std::int64_t size() const;                        // number of elements; 1 for a scalar

  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

std::string to_string(const Shape& shape);  // "[32, 128]"

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace podium
