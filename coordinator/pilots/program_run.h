// Runs a program to its end, with a time limit and bounded output, without a shell.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace podium {

struct ProgramRun {
  std::vector<std::string> command;  // found on the path
  std::string input;
  std::vector<std::string> environment;  // NAME=value
  Duration limit{};                      // then it is killed
  int held = -1;  // an open file that it inherits: a lock there is held as long as it lives
};

struct ProgramEnd {
  int code = -1;  // -1: it did not end by itself
  bool timed_out = false;
  std::string out, err;  // what it wrote, 4 MiB of each at most

  bool ok() const { return code == 0; }
};

// Blocks. Kills the program once `stop` is set. Throws std::system_error where it cannot be started.
ProgramEnd run_program(const ProgramRun& run, const std::atomic<bool>& stop);

// In words, for people: its last line of standard error, or how it ended.
std::string describe_end(const ProgramRun& run, const ProgramEnd& end);

}  // namespace podium
