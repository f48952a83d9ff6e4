// <home>/id: a random name of this home's own, made once. It is the agent's key, by which the coordinator
// knows it from others of its name, and names its cgroups. Neither the home's path nor its inode would do:
// both can come back with another home, while processes of the first still live.
#pragma once

#include <filesystem>
#include <string>

namespace podium {

std::string home_id(const std::filesystem::path& home);

}  // namespace podium
