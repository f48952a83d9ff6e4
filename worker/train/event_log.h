// Appends the task's events to events.jsonl, one whole line with each write, and never rewrites one. Times
// come from the clock.
#pragma once

#include <filesystem>

#include "common/base/file.h"
#include "common/base/time.h"
#include "common/model/worker_event.h"

namespace podium {

class EventLog {
 public:
  // An empty path means standard output. Throws Failure(disk_full) if the file cannot be opened.
  EventLog(const std::string& path, const Clock& clock);

  // Throws Failure(disk_full) naming the file.
  void write(decltype(WorkerEvent::body) body);
  void note(const std::string& level, const std::string& message) { write(NoteEvent{level, message}); }

 private:
  std::filesystem::path path_;
  const Clock& clock_;
  Fd file_;
};

}  // namespace podium
