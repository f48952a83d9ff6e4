// The times until which tasks may run, on disk, so that they hold even when the agent is dead. The agent
// writes them; every podium-shim reads that of its task, and the next agent continues with them. Times are on
// the clock that counts from the machine's start.
//
//   <task's folder>/lease  until when this task may run, and how long it has to leave then
//   <home>/lease           how things stood with the coordinator. It begins with the end for tasks without a
//                          file of their own, whose shims are of before there was one
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/base/time.h"

namespace podium {

struct LeaseRecord {
  Time end;        // of the right to run tasks without a file of their own
  Time last_sync;  // when the report was sent that was answered last
  Duration lease;  // and how long that answer lets them run: NodeOrders
  Duration orphan;

  bool operator==(const LeaseRecord&) const = default;
};

class LeaseFile {
 public:
  explicit LeaseFile(const std::filesystem::path& home);

  void set(const LeaseRecord& record) const;
  std::optional<LeaseRecord> read() const;  // nothing in a home without tasks

 private:
  std::filesystem::path path_;
  Fd fd_;
};

// The file is opened by its path each time, as the shim does: a program that deletes the file or its folder
// runs on, and the next write makes both again.
class TaskLease {
 public:
  explicit TaskLease(const std::filesystem::path& folder);
  static bool exists(const std::filesystem::path& folder);

  void set(Time end, Duration leave);  // `leave`: from SIGTERM to SIGKILL after the end
  Time end() const;                    // as this or the previous agent wrote it; 0: never

 private:
  std::filesystem::path path_;
  std::optional<std::pair<Time, Duration>> written_;
};

}  // namespace podium
