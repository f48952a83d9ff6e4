// Why a command ended early, as one sentence and an exit status. Thrown by commands, printed once, by main.
#pragma once

#include <stdexcept>
#include <string>

namespace podium::cli {

enum class Exit : int {
  ok = 0,
  job_failed = 1,     // the job a command followed did not succeed
  usage = 2,          // the command line makes no sense
  unreachable = 3,    // no answer from the coordinator
  refused = 4,        // the coordinator, or the spec check, said no
  output = 5,         // standard output, or a file, cannot be written; a job that was followed may still run
  interrupted = 130,  // Ctrl-C: detached, the job goes on
};

class Failure : public std::runtime_error {
 public:
  Failure(Exit status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Exit status() const { return status_; }

 private:
  Exit status_;
};

}  // namespace podium::cli
