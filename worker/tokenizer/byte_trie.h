// A set of byte strings with a number each, walked byte by byte: a double-array trie (Aoe, 1989), in which a
// node's child for a byte lies at base ^ byte. Immutable once made.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

class ByteTrie {
 public:
  static constexpr std::int32_t kNone = -1;
  using Entry = std::pair<std::string_view, std::int32_t>;

  ByteTrie() : ByteTrie(std::vector<Entry>{}) {}
  // Keys differ and are not empty; values are from 0.
  explicit ByteTrie(std::vector<Entry> entries);

  struct Match {
    std::int32_t value = kNone;
    std::size_t bytes = 0;
  };
  // The longest key that `text` begins with.
  Match longest(std::string_view text) const {
    Match match;
    std::int32_t node = 0;
    for (std::size_t i = 0; i < text.size() && (node = child(node, text[i])) != kNone; ++i)
      if (value(node) != kNone) match = {value(node), i + 1};
    return match;
  }
  // The value of the key `text`, or kNone.
  std::int32_t find(std::string_view text) const {
    std::int32_t node = 0;
    for (const char byte : text)
      if ((node = child(node, byte)) == kNone) return kNone;
    return value(node);
  }

 private:
  struct Node {
    std::int32_t parent = kNone;  // kNone: free
    std::int32_t base = 0;
    std::int32_t value = kNone;
  };

  std::int32_t child(std::int32_t node, char byte) const {
    const std::int32_t at = nodes_[static_cast<std::size_t>(node)].base ^ static_cast<unsigned char>(byte);
    return nodes_[static_cast<std::size_t>(at)].parent == node ? at : kNone;
  }
  std::int32_t value(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].value; }

  // What a node is still to be given: the entries that begin with its bytes, `depth` many.
  struct Branch {
    std::int32_t node;
    std::size_t depth;
    std::span<const Entry> entries;
  };

  void grow(Branch branch, std::vector<Branch>& waiting);
  std::int32_t free_base(std::string_view bytes);

  std::vector<Node> nodes_;
  std::size_t first_free_ = 1;  // while it is made: those before it are taken or given up
};

}  // namespace podium
