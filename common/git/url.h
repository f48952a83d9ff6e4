#pragma once

#include <string>

namespace podium {

// The address of a repository without the user and password that some carry: what may be told.
std::string without_credentials(const std::string& url);

}  // namespace podium
