#include "agent/process/run_at_end.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace podium {
namespace {

constexpr int kMostWords = 15;
constexpr int kTries = 3;
constexpr int kLooks = 1000;  // in all, with a pause before each
constexpr timespec kPause{0, 20'000'000};

void split(char* words, char* (&out)[kMostWords + 1]) {
  int count = 0;
  for (char* word = strsep(&words, "\n"); word && count < kMostWords; word = strsep(&words, "\n"))
    out[count++] = word;
  out[count] = nullptr;
}

[[noreturn]] void become(char** words) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
  execvp(words[0], words);
  _exit(127);
}

// Takes from `looks` what it needs; kills a command for which none is left.
bool succeeds(char** list, int& looks) {
  const pid_t command = fork();
  if (command == 0) become(list);
  if (command < 0) return false;
  int status = 0;
  while (looks-- > 0) {
    if (waitpid(command, &status, WNOHANG) == command) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    nanosleep(&kPause, nullptr);
  }
  kill(-command, SIGKILL);
  waitpid(command, nullptr, 0);
  return false;
}

}  // namespace

void run_at_end(char* words) {
  if (!words || !*words) return;
  char* list[kMostWords + 1];
  split(words, list);
  int looks = kLooks;
  for (int tries = 0; tries < kTries && looks > 0 && !succeeds(list, looks);) ++tries;
}

}  // namespace podium
