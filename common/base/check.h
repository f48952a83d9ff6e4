// PODIUM_CHECK: a broken invariant is a bug in Podium and ends the process with a message, in every build.
// User mistakes are `Error` values and failures of the world are exceptions; neither belongs here.
#pragma once

#include <string_view>

namespace podium {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view message);
}

#define PODIUM_CHECK(condition, message)                                               \
  do {                                                                                 \
    if (!(condition)) ::podium::check_failed(__FILE__, __LINE__, #condition, message); \
  } while (false)
