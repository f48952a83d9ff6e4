// The interface between podium-shim and the agent. Plain constants: the shim links no library.
#pragma once

#include <fcntl.h>

#include <cstdint>

namespace podium::shim {

// Descriptors the shim starts with, beside the task's stdin, stdout and stderr.
inline constexpr int kLockFd = 3;   // shim.lock, locked by flock(2): held exactly as long as the shim lives
inline constexpr int kReadyFd = 4;  // a pipe to the agent
inline constexpr int kFirstClosedFd = 5;

// In the task's folder. shim.lock holds "SHIM_PID PROGRAM_PID\n" before the program runs.
inline constexpr char kLockFile[] = "shim.lock";
inline constexpr char kExitFile[] = "exit.json";  // {"code":n,"signal":n,"cause":"…"}
inline constexpr char kExitDraft[] = "exit.tmp";

inline constexpr char kLeaseFile[] = "lease";  // a LeaseEnd, renewed by the agent
// Flags for reading it: whatever a program puts in its place cannot block the reader.
inline constexpr int kLeaseFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
struct LeaseEnd {
  std::int64_t end = 0;    // of the right to run the task, in milliseconds of CLOCK_BOOTTIME
  std::int64_t leave = 0;  // from SIGTERM to SIGKILL after it, in milliseconds
};

inline constexpr char kStopFile[] = "stop";  // made when the program is asked to leave

// Variable with a command that is run once the program has ended, before what it left is killed and exit.json
// is written: its words, each on a line. It removes what lives on outside the program's processes.
inline constexpr char kAtEnd[] = "PODIUM_AT_END";

// Prefix of variables that are for the program and not for the shim: variables of the loader (ld.so(8)) would
// change or end the shim itself.
inline constexpr char kForProgram[] = "PODIUM_EXEC_";

inline constexpr int kCannotRun = 127;  // exit code for a program that cannot be executed, as in shells

}  // namespace podium::shim
