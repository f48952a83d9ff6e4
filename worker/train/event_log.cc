#include "worker/train/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

#include "common/model/codec.h"
#include "worker/data/failure.h"

namespace podium {
EventLog::EventLog(const std::string& path, const Clock& clock)
    : path_(path.empty() ? "standard output" : path), clock_(clock) {
  try {
    file_ = path.empty() ? Fd(::dup(STDOUT_FILENO)) : open_file(path, O_WRONLY | O_APPEND | O_CREAT);
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full, std::string("cannot write events: ") + error.what());
  }
}

void EventLog::write(decltype(WorkerEvent::body) body) {
  const std::string line = dump(to_json(WorkerEvent{clock_.now(), std::move(body)})) + "\n";
  try {
    write_all(file_.get(), line, path_);
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full, std::string("cannot write events: ") + error.what());
  }
}

}  // namespace podium
