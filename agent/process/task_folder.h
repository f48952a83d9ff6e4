// The folder of a task, <home>/jobs/<job>/<attempt>/<rank>. task.json proves that the task must never be
// started again, so it is written before the process starts and deleted last.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/model/stream_chunk.h"
#include "common/model/sync.h"

namespace podium {

inline constexpr std::array<StreamKind, 4> kStreams{StreamKind::events, StreamKind::console, StreamKind::out,
                                                    StreamKind::err};

std::size_t stream_index(StreamKind stream);  // in kStreams

// task.json.
struct TaskRecord {
  TaskId task;
  std::string boot;  // the machine's, when the task was started
  std::string device_kind;
  int device_index = 0;
  std::vector<int> more_devices;          // that it drives as well
  std::int64_t pid = 0;                   // of the program; 0: not known yet
  std::optional<TaskExit> exit;           // once the agent has seen it
  std::optional<Time> kill_by;            // since the boot; once it was told to leave
  bool leased = false;                    // its shim reads the lease in its folder
  std::vector<std::string> outputs = {};  // globs of what is collected when it has ended
  std::string working_folder = {};        // below which they are
  bool collected = false;                 // its outputs are, or never will be
  bool traced = false;                    // so are the traces of NCCL's flight recorder
  bool forgotten = false;                 // by the coordinator; kept only for people
  std::array<std::int64_t, kStreams.size()>
      delivered{};  // bytes of each of kStreams that the coordinator has

  bool operator==(const TaskRecord&) const = default;
};

class TaskFolder {
 public:
  TaskFolder(const std::filesystem::path& home, TaskId task);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path launch_path() const { return path_ / "launch.json"; }
  std::filesystem::path stream_path(StreamKind stream) const;

  // Makes the folder (mode 0700), launch.json and, last, task.json.
  void create(const TaskRecord& record, const Launch& launch, const LaunchClock& clock = {}) const;
  void write_record(const TaskRecord& record) const;
  TaskRecord read_record() const;
  std::optional<Launch> read_launch() const;  // nothing where the program has changed it

  // How the program ended, as the shim wrote it; nothing while it runs or when the shim was killed.
  std::optional<TaskExit> read_exit() const;

  std::int64_t stream_size(StreamKind stream) const;  // 0 when there is no such file

  // Adds a note of the agent's to the task's events, for the job's history.
  void tell(const std::string& message, const std::string& level = "info") const;

  void empty_streams() const;  // of a delivered task, where the disk has no room

  // Deletes it all, task.json last, and the folders above it that are then empty.
  void remove() const;

 private:
  std::filesystem::path home_;
  TaskId task_;
  std::filesystem::path path_;
};

// The task whose folder the path may be, judged by its text alone, because its file system may hang.
std::optional<TaskId> task_named_by(const std::filesystem::path& folder);

// Every task with a task.json under `home`, in the order in which these were written. Other folders are left
// alone; their paths go to `strange`.
std::vector<TaskId> find_tasks(const std::filesystem::path& home,
                               std::vector<std::filesystem::path>& strange);

}  // namespace podium
