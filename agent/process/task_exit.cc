#include "agent/process/task_exit.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "agent/process/file_tail.h"
#include "agent/process/last_words.h"
#include "agent/process/leftovers.h"

namespace podium {
namespace {

constexpr std::size_t kLastWordsBytes = 64 << 10;

// The mark by which processes without a shim are found; make_command puts it into the environment.
std::string mark_of(const TaskFolder& folder) { return "PODIUM_TASK_FOLDER=" + folder.path().string(); }

std::string tail_of(const TaskFolder& folder, StreamKind stream) {
  const std::int64_t size = folder.stream_size(stream);
  const auto wanted = static_cast<std::int64_t>(kLastWordsBytes);
  return read_range(folder.stream_path(stream), std::max<std::int64_t>(0, size - wanted), kLastWordsBytes);
}

// Why a program that failed says it did: its last error note, else the last line of its stderr.
std::string last_words(const TaskFolder& folder) {
  const std::string note = last_error_note(tail_of(folder, StreamKind::events));
  return note.empty() ? last_line(tail_of(folder, StreamKind::err)) : note;
}

}  // namespace

TaskExit find_exit(TaskId id, const TaskFolder& folder, const std::optional<Cgroups>& cgroups) {
  if (std::optional<TaskExit> exit = folder.read_exit()) {
    if (!exit->clean() && exit->message.empty()) exit->message = last_words(folder);
    return *exit;
  }
  if (cgroups) cgroups->kill(id);
  const int killed = kill_marked(mark_of(folder));
  spdlog::warn("task {}: podium-shim was killed; {} process(es) it watched were killed too", to_string(id),
               killed);
  return {0, SIGKILL, "podium-shim, which watched the program, was killed, and the program with it"};
}

}  // namespace podium
