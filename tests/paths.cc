#include "tests/paths.h"

namespace podium::test {

std::string source_path(const std::string& relative) { return PODIUM_SOURCE_DIR "/" + relative; }
std::string program_path(const std::string& name) { return PODIUM_BIN_DIR "/" + name; }

}  // namespace podium::test
