// Token ids in memory: two bytes each where the vocabulary allows it, else four.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace podium {

class TokenArray {
 public:
  explicit TokenArray(std::int32_t vocabulary_size) : narrow_(vocabulary_size <= 1 << 16) {}

  void append(std::span<const std::int32_t> ids);
  std::int32_t operator[](std::size_t i) const {
    return narrow_ ? static_cast<std::int32_t>(narrow_ids_[i]) : wide_ids_[i];
  }
  std::span<const std::byte> bytes() const {
    return narrow_ ? std::as_bytes(std::span(narrow_ids_)) : std::as_bytes(std::span(wide_ids_));
  }
  std::size_t size() const { return narrow_ ? narrow_ids_.size() : wide_ids_.size(); }

 private:
  bool narrow_;
  std::vector<std::uint16_t> narrow_ids_;
  std::vector<std::int32_t> wide_ids_;
};

}  // namespace podium
