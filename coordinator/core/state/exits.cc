#include "coordinator/core/state/exits.h"

#include <algorithm>
#include <csignal>
#include <string_view>

#include "common/base/check.h"
#include "common/model/launch.h"

namespace podium {
namespace {

struct ExitMeaning {
  int code;
  std::string_view meaning;
  Retry retry;
};

constexpr ExitMeaning kWorkerExits[] = {
    {static_cast<int>(WorkerExit::bug), "an unexpected failure", Retry::failure},
    {static_cast<int>(WorkerExit::bad_spec), "the job cannot work as written", Retry::never},
    {static_cast<int>(WorkerExit::bad_data), "unreadable or malformed input", Retry::never},
    {static_cast<int>(WorkerExit::disk_full), "a file could not be written or read", Retry::wait},
    {static_cast<int>(WorkerExit::peer_lost), "another rank vanished", Retry::failure},
    {static_cast<int>(WorkerExit::address_in_use), "its port or its checkpoint folder was taken",
     Retry::requeue},
    {static_cast<int>(WorkerExit::diverged), "the loss is not a number", Retry::never},
    {static_cast<int>(WorkerExit::no_device), "its device or the driver is missing", Retry::move},
    {static_cast<int>(WorkerExit::saved), "saved and left when told to", Retry::requeue},
};

// The codes that launchers and Megatron share; a shell reports a signal as 128 + its number.
constexpr ExitMeaning kCommandExits[] = {
    {16, "wants to run again on other hardware", Retry::move},
    {17, "its results failed their validation", Retry::never},
    {75, "asks to be queued again", Retry::requeue},
    {static_cast<int>(WorkerExit::saved), "saved and left", Retry::requeue},
    {93, "asks not to be queued again", Retry::never},
    {134, "aborted, often by the NCCL watchdog", Retry::failure},
    {137, "killed, or out of memory", Retry::failure},
    {143, "terminated", Retry::failure},
};

const ExitMeaning* meaning_of(int code, bool user_program) {
  const auto find = [code](const auto& table) -> const ExitMeaning* {
    const auto found = std::ranges::find(table, code, &ExitMeaning::code);
    return found == std::end(table) ? nullptr : &*found;
  };
  return user_program ? find(kCommandExits) : find(kWorkerExits);
}

std::string_view signal_name(int signal) {
  switch (signal) {
    case SIGKILL:
      return "SIGKILL, often out of memory";
    case SIGTERM:
      return "SIGTERM";
    case SIGABRT:
      return "SIGABRT, an internal check failed";
    case SIGSEGV:
      return "SIGSEGV, an invalid memory access";
    case SIGBUS:
      return "SIGBUS, often a full disk or a truncated file";
    case SIGILL:
      return "SIGILL, built for another processor";
    case SIGFPE:
      return "SIGFPE";
    case SIGINT:
      return "SIGINT";
    default:
      return "";
  }
}

bool ended_by(const TaskExit& exit, int signal) { return exit.signal == signal || exit.code == 128 + signal; }

bool saved_and_left(const TaskExit& exit) {
  return exit.signal == 0 && exit.code == static_cast<int>(WorkerExit::saved);
}

// Whether neither the program nor an order of this coordinator ended it.
bool was_taken(ExitCause cause) {
  switch (cause) {
    case ExitCause::program:
    case ExitCause::ordered:
    case ExitCause::shim_killed:
    case ExitCause::refused:
    case ExitCause::cannot_run:
      return false;
    case ExitCause::lease:
    case ExitCause::agent_stopped:
    case ExitCause::signalled:
    case ExitCause::node_restarted:
    case ExitCause::not_started:
    case ExitCause::no_record:
      return true;
  }
  PODIUM_CHECK(false, "unknown ExitCause");
}

std::string describe_status(const TaskExit& exit, std::optional<bool> user_program) {
  std::string text;
  std::string_view meaning;
  if (exit.signal != 0) {
    text = "killed by signal " + std::to_string(exit.signal);
    meaning = signal_name(exit.signal);
  } else {
    text = "exit code " + std::to_string(exit.code);
    const ExitMeaning* known = user_program ? meaning_of(exit.code, *user_program) : nullptr;
    if (known) meaning = known->meaning;
  }
  return meaning.empty() ? text : text + " (" + std::string(meaning) + ")";
}

std::string with_message(const TaskExit& exit, const std::string& text) {
  return exit.message.empty() ? text : text + ": " + exit.message;
}

}  // namespace

Retry retry_after(const TaskExit& exit, bool user_program) {
  if (exit.cause == ExitCause::refused) return Retry::never;
  if (exit.cause == ExitCause::cannot_run) return Retry::lacking;
  if (exit.signal != 0) return Retry::failure;
  const ExitMeaning* meaning = meaning_of(exit.code, user_program);
  return meaning ? meaning->retry : Retry::failure;
}

bool may_be_the_nodes_fault(const TaskExit& exit, bool user_program) {
  if (exit.cause == ExitCause::not_started || exit.cause == ExitCause::shim_killed ||
      exit.cause == ExitCause::cannot_run)
    return true;
  if (exit.cause != ExitCause::program || ended_by(exit, SIGTERM)) return false;
  const Retry retry = retry_after(exit, user_program);
  return retry == Retry::move || retry == Retry::failure;
}

bool may_still_run(TaskPhase phase, const TaskExit& exit) {
  return phase == TaskPhase::lost || exit.cause == ExitCause::no_record ||
         exit.cause == ExitCause::node_restarted;
}

Blame blame_for(const TaskExit& exit, bool stopping, bool user_program) {
  if (was_taken(exit.cause) || (exit.cause == ExitCause::ordered && !stopping)) return Blame::taken;
  if (exit.succeeded()) return Blame::none;
  if (saved_and_left(exit)) return stopping ? Blame::stopped : Blame::left;
  if (exit.cause == ExitCause::ordered && exit.code == 0 && exit.signal == 0) return Blame::none;
  if (!user_program && exit.signal == 0 && exit.code == static_cast<int>(WorkerExit::peer_lost))
    return Blame::peer_lost;
  if (stopping && ended_by(exit, SIGTERM)) return Blame::stopped;
  if (stopping && ended_by(exit, SIGKILL)) return Blame::killed;
  // How a user's own program reacts to an order to stop says nothing about the program.
  if (stopping && user_program && exit.cause == ExitCause::ordered) return Blame::stopped;
  return Blame::failed;
}

std::string describe_exit(const TaskExit& exit, std::optional<bool> user_program) {
  switch (exit.cause) {
    case ExitCause::program:
      return with_message(exit, describe_status(exit, user_program));
    case ExitCause::ordered:
      if (exit.signal == SIGKILL) return "killed, for it did not leave within its grace period";
      return with_message(exit, "told to stop, " + describe_status(exit, user_program));
    case ExitCause::lease:
      return "stopped because the coordinator was silent for longer than its lease";
    case ExitCause::agent_stopped:
      return with_message(exit, "stopped because its agent was stopped");
    case ExitCause::signalled:
      return "stopped by a SIGTERM that Podium did not send";
    case ExitCause::node_restarted:
      return "its node was restarted";
    case ExitCause::shim_killed:
      return with_message(exit, "how it ended is not known");
    case ExitCause::not_started:
      return with_message(exit, "it could not be started");
    case ExitCause::no_record:
      return with_message(exit, "its agent has no record of it");
    case ExitCause::refused:
      return with_message(exit, "its agent refused it");
    case ExitCause::cannot_run:
      return exit.message.empty() ? "its program cannot run there" : exit.message;
  }
  PODIUM_CHECK(false, "unknown ExitCause");
}

}  // namespace podium
