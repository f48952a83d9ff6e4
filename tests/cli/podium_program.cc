#include "tests/cli/podium_program.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <system_error>

#include "common/base/file.h"
#include "tests/paths.h"

namespace podium::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

pid_t PodiumProgram::spawn(const std::vector<std::string>& arguments, const std::string& out,
                           const std::string& err) {
  std::vector<std::string> words = {test::program_path("podium")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=" + folder().string()};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addchdir_np(&files, folder().c_str());
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, words[0].c_str(), &files, nullptr, pointers(words).data(),
                                pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + words[0]);
  return pid;
}

Ran PodiumProgram::run_into(const std::string& out, const std::vector<std::string>& arguments) {
  write_file_atomic(folder() / "out", "");
  return wait(spawn(arguments, out, "err"));
}

pid_t PodiumProgram::start(const std::vector<std::string>& arguments) {
  return spawn(arguments, "out", "err");
}

Ran PodiumProgram::run_on_terminal(const std::vector<std::string>& arguments) {
  const winsize size{25, 80, 0, 0};
  int terminal = -1;
  int program_end = -1;
  std::array<char, 256> name;
  if (openpty(&terminal, &program_end, name.data(), nullptr, &size) != 0)
    throw std::system_error(errno, std::generic_category(), "openpty");
  const Fd ours(terminal);
  Fd theirs(program_end);  // kept open until the program has opened its own
  write_file_atomic(folder() / "out", "");
  write_file_atomic(folder() / "err", "");
  const pid_t pid = spawn(arguments, name.data(), name.data());
  theirs = Fd();
  std::string said;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = ::read(ours.get(), buffer.data(), buffer.size())) > 0;)
    said.append(buffer.data(), static_cast<std::size_t>(got));
  Ran ran = wait(pid);
  ran.out = said;
  return ran;
}

Ran PodiumProgram::wait(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) throw std::system_error(errno, std::generic_category(), "waitpid");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(folder() / "out"),
          read_file(folder() / "err")};
}

}  // namespace podium::test
