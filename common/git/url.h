#pragma once

#include <string>

namespace podium {

// The address of a repository without user and password, fit to be shown.
std::string without_credentials(const std::string& url);

}  // namespace podium
