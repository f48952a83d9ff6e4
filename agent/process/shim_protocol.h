// What podium-shim and the agent agree on. Plain constants: the shim links no library.
#pragma once

namespace podium::shim {

// Descriptors the shim starts with, beside the task's stdin, stdout and stderr.
inline constexpr int kLockFd = 3;   // shim.lock, locked by flock(2): held exactly as long as the shim lives
inline constexpr int kReadyFd = 4;  // a pipe to the agent
inline constexpr int kFirstClosedFd = 5;

// In the task's folder. shim.lock holds "SHIM_PID PROGRAM_PID\n" before the program runs.
inline constexpr char kLockFile[] = "shim.lock";
inline constexpr char kExitFile[] = "exit.json";  // {"code":n,"signal":n}
inline constexpr char kExitDraft[] = "exit.tmp";

// In the agent's home, seen from the task's folder: the end of the lease in milliseconds of CLOCK_BOOTTIME,
// an int64.
inline constexpr char kLeaseFile[] = "../../../../lease";
inline constexpr long long kAgentFirstMillis = 2'000;  // a living agent acts before its shims do
inline constexpr long long kLeaveMillis = 30'000;      // from SIGTERM to SIGKILL after the lease

// Exit codes of tasks whose program never ran.
inline constexpr int kCannotRun = 127;   // as shells say it
inline constexpr int kCannotWrite = 73;  // WorkerExit::disk_full

}  // namespace podium::shim
