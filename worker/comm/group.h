// What splitting a communicator into groups comes to for one rank.
#pragma once

#include <string>
#include <vector>

namespace podium {

struct OwnGroup {
  std::string name;          // of no other group of the attempt
  int rank = 0;              // within the group
  std::vector<int> members;  // as the communicator that is split numbers them
};

// The group of `groups` that holds `rank`, which is in one of them only. `parent` is the name of the
// communicator that is split, for the `number`th time.
OwnGroup own_group(const std::vector<std::vector<int>>& groups, int rank, const std::string& parent,
                   int number, const std::string& name);

}  // namespace podium
