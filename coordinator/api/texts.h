// Files that travel inside the daemon, compiled in by CMake: they are of this very build.
#pragma once

#include <string_view>

namespace podium {

extern const std::string_view kOpenapiText;   // schemas/openapi.yaml
extern const std::string_view kPythonHelper;  // coordinator/api/podium.py

}  // namespace podium
