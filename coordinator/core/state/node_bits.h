// A set of nodes by ordinal, one bit each: ten thousand nodes are 1,250 bytes, so sets are copied and
// combined freely.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace podium {

class NodeBits {
 public:
  void set(std::size_t node) {
    if (node / 64 >= words_.size()) words_.resize(node / 64 + 1);
    words_[node / 64] |= bit(node);
  }
  void reset(std::size_t node) {
    if (node / 64 < words_.size()) words_[node / 64] &= ~bit(node);
  }

  // body(node) in ascending order, until it returns false.
  template <class Body>
  bool each(const Body& body) const {
    for (std::size_t word = 0; word < words_.size(); ++word)
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1)
        if (!body(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)))) return false;
    return true;
  }

 private:
  static std::uint64_t bit(std::size_t node) { return std::uint64_t{1} << (node % 64); }

  std::vector<std::uint64_t> words_;
};

}  // namespace podium
