// Where the sources and the built programs lie.
#pragma once

#include <string>

namespace podium::test {

std::string source_path(const std::string& relative);
std::string program_path(const std::string& name);

}  // namespace podium::test
