// <home>/id: a random name of this home's own, made once. It is the agent's key, by which the coordinator
// knows it from others of its name, and names its cgroups. Neither the home's path nor its inode would do:
// both can come back with another home, while processes of the first still live.
//
// <home>/place: which file on its disk `id` was made as, its inode and its birth. A copy of the home has
// another one, and so is told from the original.
#pragma once

#include <filesystem>
#include <string>

namespace podium {

std::string home_id(const std::filesystem::path& home);

// Whether its id is that of another home, of which it is a copy.
bool has_copied_id(const std::filesystem::path& home);
void renew_home_id(const std::filesystem::path& home);

}  // namespace podium
