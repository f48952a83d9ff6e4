// What the commands print and write for a user: it reaches its place, or the command fails.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "worker/data/failure.h"

namespace podium {

[[noreturn]] inline void fail_to_print() {
  throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "cannot write standard output");
}

// Text that may be long and hold any byte. Throws std::system_error.
inline void print_output(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_to_print();
}

// Throws std::system_error if anything printed so far is lost.
inline void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_to_print();
}

// Calls `write`, and turns its std::system_error into Failure(disk_full).
template <class Write>
void write_or_fail(const Write& write) {
  try {
    write();
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full, error.what());
  }
}

}  // namespace podium
