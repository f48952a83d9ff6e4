// schemas/openapi.yaml, compiled in by CMake.
#pragma once

#include <string_view>

namespace podium {

extern const std::string_view kOpenapiText;

}  // namespace podium
