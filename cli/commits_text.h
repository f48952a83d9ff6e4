// The commits between those that compared jobs come from, where a repository here has them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace podium::cli {

// Of the base's commit and every other of the same repository. `folder` lies in the repository that is asked;
// what it lacks is said. "" where the jobs' commits are one.
std::string commits_text(const nlohmann::json& comparison, const std::string& folder);

}  // namespace podium::cli
