// Runs the real `podium` program and keeps what it said.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace podium::test {

struct Ran {
  int status = -1;  // its exit status; 128 + n when signal n ended it
  std::string out;
  std::string err;
};

class PodiumProgram {
 public:
  // Every run gets only these variables, PATH and HOME: nothing of the person who runs the tests.
  std::map<std::string, std::string> environment;
  std::filesystem::path folder() const { return folder_.path(); }

  Ran run(const std::vector<std::string>& arguments) { return wait(start(arguments)); }

  // On a terminal of 80 columns; what it said is all in `out`.
  Ran run_on_terminal(const std::vector<std::string>& arguments);

  // With its output in this file; `out` is empty.
  Ran run_into(const std::string& out, const std::vector<std::string>& arguments);

  // For what is done to it while it runs.
  pid_t start(const std::vector<std::string>& arguments);
  Ran wait(pid_t pid);

 private:
  pid_t spawn(const std::vector<std::string>& arguments, const std::string& out, const std::string& err);

  TempFolder folder_;  // its current folder, and where its output goes
};

}  // namespace podium::test
