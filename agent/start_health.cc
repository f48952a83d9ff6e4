#include "agent/start_health.h"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <utility>

#include "agent/process/write_probe.h"

namespace podium {

bool is_shortage(const std::exception& error) {
  constexpr int kShortages[] = {ENOSPC, EDQUOT, EROFS, EIO, EAGAIN, ENOMEM, EMFILE, ENFILE};
  const auto is_one = [&](int code) { return std::ranges::find(kShortages, code) != std::end(kShortages); };
  if (const auto* of_system = dynamic_cast<const std::system_error*>(&error))
    return is_one(of_system->code().value());
  const auto* of_asio = dynamic_cast<const boost::system::system_error*>(&error);
  return of_asio && is_one(of_asio->code().value());
}

StartHealth::StartHealth(const std::filesystem::path& home, std::function<void()> probe_shared)
    : jobs_(home / "jobs"), probe_shared_(std::move(probe_shared)) {}

void StartHealth::failed(const std::string& why, bool shortage, Time now) {
  if (!shortage && why_not_writable(jobs_).empty()) return probe_shared_();
  reason_ = why;
  put_off(now);
}

bool StartHealth::look(Time now) {
  if (now < look_at_) return false;
  const std::string found = why_not_writable(jobs_);
  if (!found.empty() || reason_.empty()) return say(found);
  probe_shared_();  // which may be what is wrong
  return false;
}

bool StartHealth::probed(const std::string& trouble, Time now) {
  if (now < look_at_) return false;
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
