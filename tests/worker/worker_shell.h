// A folder in which tests run podium-worker as users do, from a shell.
#pragma once

#include <sys/wait.h>

#include <string>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace podium::test {

class WorkerShell {
 public:
  std::string path(const std::string& name) const { return folder_.path() / name; }
  // `shell` runs in the folder, with podium-worker as $0. Returns its exit status.
  int run(const std::string& shell) const {
    std::filesystem::remove(path("log"));
    Child child(
        {"/bin/sh", "-c", "cd " + folder_.path().string() + " && " + shell, program_path("podium-worker")},
        path("log"));
    const int status = child.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // What the last one printed.
  std::string output() const { return read_file(path("log")); }

 private:
  TempFolder folder_;
};

}  // namespace podium::test
