// A real process of a test's own: started from an argument list, killed and reaped at the end of its life.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace podium {

class Child {
 public:
  // Standard output and error go to `log`, appended. Throws std::system_error when the program cannot be
  // started.
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();
  // Its wait status, as for waitpid(2).
  int wait();

 private:
  pid_t pid_;
  int status_ = 0;
  bool reaped_ = false;
};

}  // namespace podium
