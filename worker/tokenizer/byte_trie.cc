#include "worker/tokenizer/byte_trie.h"

#include <algorithm>
#include <string>

namespace podium {
namespace {

constexpr std::size_t kBlock = 256;       // children of one node lie in one of these
constexpr std::size_t kMostTried = 4096;  // places looked at for a node before the first ones are given up
constexpr std::int32_t kNoParent = -2;    // the root's

}  // namespace

ByteTrie::ByteTrie(std::vector<Entry> entries) : nodes_(kBlock) {
  std::ranges::sort(entries);
  nodes_.front().parent = kNoParent;
  std::vector<Branch> waiting{{0, 0, entries}};
  while (!waiting.empty()) {
    const Branch branch = waiting.back();
    waiting.pop_back();
    grow(branch, waiting);
  }
}

// Gives the branch's node its value and its children, which wait for theirs.
void ByteTrie::grow(Branch branch, std::vector<Branch>& waiting) {
  const std::size_t depth = branch.depth;
  if (!branch.entries.empty() && branch.entries.front().first.size() == depth) {
    nodes_[static_cast<std::size_t>(branch.node)].value = branch.entries.front().second;
    branch.entries = branch.entries.subspan(1);
  }
  if (branch.entries.empty()) return;
  std::string bytes;
  for (const Entry& entry : branch.entries)
    if (bytes.empty() || bytes.back() != entry.first[depth]) bytes += entry.first[depth];
  const std::int32_t base = free_base(bytes);
  nodes_[static_cast<std::size_t>(branch.node)].base = base;
  for (const char byte : bytes) {
    const std::int32_t node = base ^ static_cast<unsigned char>(byte);
    nodes_[static_cast<std::size_t>(node)].parent = branch.node;
    const auto other =
        std::ranges::find_if(branch.entries, [&](const Entry& entry) { return entry.first[depth] != byte; });
    const auto count = static_cast<std::size_t>(other - branch.entries.begin());
    waiting.push_back({node, depth + 1, branch.entries.first(count)});
    branch.entries = branch.entries.subspan(count);
  }
}

// A base whose places for all `bytes` are free. Places that many nodes in turn did not fit are given up, or
// the search would look at all of them again for each node.
std::int32_t ByteTrie::free_base(std::string_view bytes) {
  const auto is_free = [&](std::size_t place) { return nodes_[place].parent == kNone; };
  while (first_free_ < nodes_.size() && !is_free(first_free_)) ++first_free_;
  for (std::size_t place = first_free_;; ++place) {
    if (place == nodes_.size()) nodes_.resize(place + kBlock);
    if (place == first_free_ + kMostTried) first_free_ = place;
    const std::size_t base = place ^ static_cast<unsigned char>(bytes.front());
    if (std::ranges::all_of(bytes,
                            [&](char byte) { return is_free(base ^ static_cast<unsigned char>(byte)); }))
      return static_cast<std::int32_t>(base);
  }
}

}  // namespace podium
