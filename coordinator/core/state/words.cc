#include "coordinator/core/state/words.h"

#include <algorithm>
#include <iterator>

namespace podium {
namespace {

constexpr std::size_t kMostListed = 3;

std::string and_more(std::size_t left) { return left ? " and " + std::to_string(left) + " more" : ""; }

}  // namespace

std::string count(std::int64_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

std::string listed(const std::vector<NodeId>& nodes) {
  const std::size_t told = std::min(nodes.size(), kMostListed);
  std::string text;
  for (std::size_t i = 0; i < told; ++i) text += (i ? ", " : "") + nodes[i].value;
  return text + and_more(nodes.size() - told);
}

std::string listed(const std::set<JobId>& jobs) {
  std::string text = jobs.size() == 1 ? "job " : "jobs ";
  auto first = jobs.begin();
  for (std::size_t runs = 0; first != jobs.end() && runs < kMostListed; ++runs) {
    auto last = first, next = std::next(first);
    while (next != jobs.end() && next->value == last->value + 1) last = next++;
    text += (runs ? ", " : "") + to_string(*first) + (first == last ? "" : "–" + to_string(*last));
    first = next;
  }
  return text + and_more(static_cast<std::size_t>(std::distance(first, jobs.end())));
}

}  // namespace podium
