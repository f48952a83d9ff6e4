// Files of the build that a test of the worker opens, by their place beside the test itself: a build stays
// whole when it is moved to another machine (tests/gpu/pack).
#pragma once

#include <filesystem>

namespace podium::test {

// Of the running program: tests/worker/NAME in the build folder.
inline std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

inline std::filesystem::path cuda_library() {
  return program_folder() / ".." / ".." / ".." / "bin" / "libpodium_cuda.so";
}

}  // namespace podium::test
