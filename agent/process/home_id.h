// <home>/id: a random name of this home, made once. It is the agent's key, by which the coordinator tells it
// from other agents of its name, and it names the agent's cgroups. The home's path and inode are unsuitable:
// another home may get both while processes of the first still live.
//
// <home>/place: the inode and the birth time of the file `id` when it was made. They differ in a copy of the
// home, which reveals the copy.
#pragma once

#include <filesystem>
#include <string>

namespace podium {

std::string home_id(const std::filesystem::path& home);

// Whether the home is a copy: its id belongs to another home.
bool has_copied_id(const std::filesystem::path& home);
void renew_home_id(const std::filesystem::path& home);

}  // namespace podium
