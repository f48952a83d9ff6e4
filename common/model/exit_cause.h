// What ended a task. Only with `program` did the program end by itself, and only then can exit code 0 mean
// success. Plain constants: podium-shim, which writes the name into exit.json, links no library.
#pragma once

#include <cstddef>

namespace podium {

enum class ExitCause {
  program,         // it ended by itself, or by a signal that was not Podium's
  ordered,         // its orders said stop, or no longer held it
  lease,           // the coordinator was silent for longer than the lease
  agent_stopped,   // its agent was stopped, and its tasks with it
  signalled,       // somebody else sent podium-shim a SIGTERM: a machine that shuts down, or a person
  node_restarted,  // the machine was restarted
  shim_killed,     // podium-shim, which watched it, was killed or could not say how it ended
  not_started,     // the agent could not start it: no program ran
  no_record,       // not known: its agent has no record of it, or its node is lost
  refused,         // no attempt of it can ever run: its shared folder is another job's, or its code is gone
  cannot_run,      // its node lacks the program or its working folder, or may not run it
};

// Indexed by value: the names in exit.json, on the wire and on disk.
inline constexpr const char* kExitCauseNames[] = {
    "program",     "ordered",     "lease",     "agent_stopped", "signalled", "node_restarted",
    "shim_killed", "not_started", "no_record", "refused",       "cannot_run"};

inline constexpr int kExitCauses = sizeof kExitCauseNames / sizeof *kExitCauseNames;

constexpr const char* name_of(ExitCause cause) { return kExitCauseNames[static_cast<std::size_t>(cause)]; }

}  // namespace podium
