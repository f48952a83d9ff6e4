#include "agent/start_health.h"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <utility>

#include "agent/process/home_room.h"
#include "agent/process/write_probe.h"

namespace podium {
namespace {

// Asio's errors are of many categories, such as HTTP's.
int errno_of(const std::exception& error) {
  if (const auto* of_system = dynamic_cast<const std::system_error*>(&error))
    return of_system->code().value();
  const auto* of_asio = dynamic_cast<const boost::system::system_error*>(&error);
  const bool is_errno = of_asio && of_asio->code().category() == boost::system::system_category();
  return is_errno ? of_asio->code().value() : 0;
}

}  // namespace

Shortage shortage_of(const std::exception& error) {
  constexpr int kOthers[] = {EROFS, EIO, EAGAIN, ENOMEM, EMFILE, ENFILE};
  const int code = errno_of(error);
  if (code == ENOSPC || code == EDQUOT) return Shortage::room;
  return std::ranges::find(kOthers, code) != std::end(kOthers) ? Shortage::other : Shortage::none;
}

std::string shortage_text(const std::exception& error, const std::filesystem::path& folder) {
  if (shortage_of(error) != Shortage::room) return error.what();
  return "the disk of this node is full: make room in " + folder.string() + " (" + error.what() + ")";
}

StartHealth::StartHealth(const std::filesystem::path& home, std::function<void()> probe_shared)
    : jobs_(home / "jobs"), probe_shared_(std::move(probe_shared)) {}

void StartHealth::failed(const std::string& why, Shortage shortage, Time now) {
  if (shortage == Shortage::none && why_not_writable(jobs_).empty()) return probe_shared_();
  reason_ = why;
  if (shortage == Shortage::room) waits_for_room_ = true;
  put_off(now);
}

bool StartHealth::look(Time now) {
  if (now < look_at_ || (waits_for_room_ && is_short_of_room(jobs_))) return false;
  waits_for_room_ = false;
  const std::string found = why_not_writable(jobs_);
  if (!found.empty() || reason_.empty()) return say(found);
  probe_shared_();  // which may be what is wrong
  return false;
}

bool StartHealth::probed(const std::string& trouble, Time now) {
  if (now < look_at_ || waits_for_room_) return false;
  if (!trouble.empty() && reason_.empty()) put_off(now);
  return say(trouble);
}

bool StartHealth::say(const std::string& found) {
  const std::string reason = found.empty() ? "" : "cannot start tasks: " + found;
  return std::exchange(reason_, reason) != reason;
}

void StartHealth::put_off(Time now) {
  look_at_ = now + pause_;
  pause_ = std::min<Duration>(2 * pause_, kLongestPause);
}

}  // namespace podium
