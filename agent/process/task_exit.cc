#include "agent/process/task_exit.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <string>
#include <system_error>

#include "agent/core/command.h"
#include "agent/process/adoption.h"
#include "agent/process/file_tail.h"
#include "agent/process/last_words.h"
#include "agent/process/leftovers.h"
#include "agent/process/shim_protocol.h"
#include "agent/process/torchrun_failure.h"

namespace podium {
namespace {

constexpr std::size_t kLastWordsBytes = 64 << 10;

// The variable by which processes without a shim are found; make_command sets it.
constexpr char kMark[] = "PODIUM_TASK_FOLDER";

// TORCHELASTIC_ERROR_FILE, likewise.
constexpr char kErrorFile[] = "error.json";
constexpr std::size_t kLongestError = 1 << 20;

std::string tail_of(const TaskFolder& folder, StreamKind stream) {
  const std::int64_t size = folder.stream_size(stream);
  const auto wanted = static_cast<std::int64_t>(kLastWordsBytes);
  return read_range(folder.stream_path(stream), std::max<std::int64_t>(0, size - wanted), kLastWordsBytes);
}

// When the file was last written; 0: there is none.
Time time_of(const std::filesystem::path& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return {};
  return from_millis(file.st_mtim.tv_sec * std::int64_t{1000} + file.st_mtim.tv_nsec / 1'000'000);
}

// torch writes whole seconds. The file's own time has the rest, where it is of that second.
Time recorded_at(const std::string& record, Time written) {
  const Time at = from_millis(recorded_seconds(record) * 1000);
  return std::chrono::floor<std::chrono::seconds>(written) == at ? written : at;
}

// Under torchrun, how the process that failed first ended.
std::optional<TorchrunFailure> failure_under_torchrun(const TaskFolder& folder, const TaskExit& exit,
                                                      const std::string& errors) {
  if (exit.code != 1) return std::nullopt;
  const std::optional<Launch> launch = folder.read_launch();
  return launch && launch->spec.processes == Processes::node ? torchrun_failure(errors) : std::nullopt;
}

// The program's own reason for its failure: its last error note, else the exception that torch recorded, else
// that of torchrun's process which failed first, else the last line of its stderr.
std::string reason_of(const TaskFolder& folder, const std::string& record,
                      const std::optional<TorchrunFailure>& child, const std::string& errors) {
  if (std::string note = last_error_note(tail_of(folder, StreamKind::events)); !note.empty()) return note;
  if (std::string error = recorded_error(record); !error.empty()) return error;
  return child ? describe(*child) : last_line(errors);
}

// Torchrun is started by a shell, which says so where it is not there.
bool lacks_torchrun(const TaskExit& exit, const std::string& errors) {
  return exit.code == 127 && exit.cause == ExitCause::program && last_line(errors).starts_with(kNoTorchrun);
}

void explain_failure(const TaskFolder& folder, TaskExit& exit) {
  const Time ended = time_of(folder.path() / shim::kExitFile);
  exit.failed_at = ended;
  try {
    const std::filesystem::path path = folder.path() / kErrorFile;
    const std::string record = read_regular_file(path, kLongestError).value_or("");
    const std::string errors = tail_of(folder, StreamKind::err);
    if (lacks_torchrun(exit, errors)) exit.cause = ExitCause::cannot_run;
    const auto child = failure_under_torchrun(folder, exit, errors);
    if (child) {
      exit.code = child->code;
      exit.signal = child->signal;
    }
    if (const Time at = recorded_at(record, time_of(path)); at > Time{}) exit.failed_at = std::min(at, ended);
    if (exit.message.empty()) exit.message = reason_of(folder, record, child, errors);
  } catch (const std::system_error& error) {  // what it said is not worth how it ended
    if (exit.message.empty()) exit.message = error.what();
  }
}

std::filesystem::path without_links(const std::filesystem::path& path) {
  std::error_code cannot;
  const auto resolved = std::filesystem::weakly_canonical(path, cannot);
  return cannot ? path : resolved;
}

// Kills what runs for tasks whose folder is `doomed`, and returns how many. A home may have been moved with
// its tasks, and a copy be in its place: their environment then names a folder that is not theirs. Any
// process may name any folder: those that can be no task's that is `meant` are not looked at, for a look may
// hang.
int kill_processes_of(const std::function<bool(TaskId)>& meant,
                      const std::function<bool(const std::filesystem::path&)>& doomed) {
  const auto can_be = [&](const std::string& folder) {
    const std::optional<TaskId> task = task_named_by(folder);
    return task && meant(*task);
  };
  std::set<std::string> moved;
  each_marked(kMark, [&](pid_t pid, const std::string& folder) {
    if (can_be(folder) && has_moved_away(pid, folder)) moved.insert(folder);
  });
  return kill_marked(kMark, [&](const std::string& folder) {
    return can_be(folder) && !moved.contains(folder) && doomed(without_links(folder));
  });
}

}  // namespace

int kill_strangers(const std::filesystem::path& home, const std::set<TaskId>& known) {
  const std::filesystem::path real_home = without_links(home);
  std::set<std::filesystem::path> folders;
  for (const TaskId task : known) folders.insert(TaskFolder(real_home, task).path());
  const std::string jobs = (real_home / "jobs").string() + "/";
  return kill_processes_of([](TaskId) { return true; },
                           [&](const std::filesystem::path& folder) {
                             return folder.string().starts_with(jobs) && !folders.contains(folder);
                           });
}

TaskExit find_exit(TaskId id, const TaskFolder& folder, const std::optional<Cgroups>& cgroups,
                   std::optional<ExitCause> asked) {
  if (std::optional<TaskExit> exit = folder.read_exit()) {
    if (exit->code != 0 || exit->signal != 0) explain_failure(folder, *exit);
    if (exit->succeeded() && says_preempted(tail_of(folder, StreamKind::events)))
      exit->cause = ExitCause::signalled;  // by its own word: it left before it was through
    return *exit;
  }
  if (cgroups) cgroups->kill(id);
  const int killed = kill_processes_of(
      [id](TaskId task) { return task == id; },
      [own = without_links(folder.path())](const std::filesystem::path& other) { return other == own; });
  spdlog::warn("task {}: podium-shim left no exit.json; killed of the processes that it watched: {}",
               to_string(id), killed);
  if (!std::filesystem::exists(folder.path()))
    return {0, SIGKILL, folder.path().string() + ", which would tell it, was deleted",
            ExitCause::shim_killed};
  return {0, SIGKILL, "podium-shim, which watched the program, was killed, and the program with it",
          asked.value_or(ExitCause::shim_killed)};
}

}  // namespace podium
