// The group that a rank gets when a communicator is split.
#pragma once

#include <string>
#include <vector>

namespace podium {

struct OwnGroup {
  std::string name;          // no other group of the attempt has it
  int rank = 0;              // within the group
  std::vector<int> members;  // their ranks in the communicator that is split
};

// Returns the one group in `groups` that holds `rank`. `parent` is the name of the communicator, which is
// split for the `number`th time.
OwnGroup own_group(const std::vector<std::vector<int>>& groups, int rank, const std::string& parent,
                   int number, const std::string& name);

}  // namespace podium
