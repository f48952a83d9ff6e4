#include "worker/comm/group.h"

#include <algorithm>
#include <optional>

#include "common/base/check.h"

namespace podium {

OwnGroup own_group(const std::vector<std::vector<int>>& groups, int rank, const std::string& parent,
                   int number, const std::string& name) {
  std::optional<OwnGroup> own;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto found = std::ranges::find(groups[i], rank);
    if (found == groups[i].end()) continue;
    PODIUM_CHECK(!own, "split: a rank is in one group only");
    own = {parent + "/" + std::to_string(number) + "." + name + "/" + std::to_string(i),
           static_cast<int>(found - groups[i].begin()), groups[i]};
  }
  PODIUM_CHECK(own.has_value(), "split: every rank is in a group");
  return *std::move(own);
}

}  // namespace podium
