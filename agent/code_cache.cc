#include "agent/code_cache.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "agent/start_health.h"
#include "common/base/file.h"
#include "common/net/code_snapshot.h"
#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr auto kRetryAfter = std::chrono::seconds(3);
constexpr auto kLookAgainAfter = std::chrono::milliseconds(50);
constexpr std::size_t kKept = 16;  // packed snapshots that stay

// Keeps the most recently used ones.
void forget_old(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files.emplace_back(entry.last_write_time(), entry.path());
  std::ranges::sort(files, std::greater<>());
  for (std::size_t i = kKept; i < files.size(); ++i) fs::remove(files[i].second);
}

// What is wrong with the bytes; "" where they were unpacked into `to`.
std::string unpack_anew(const std::string& packed, const std::string& sha256, const fs::path& to) {
  try {
    fs::remove_all(to);
    unpack_code(packed, sha256, to);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const std::exception&) {  // the disk may be full, and a part would keep it so
    fs::remove_all(to);
    throw;
  }
}

}  // namespace

CodeCache::CodeCache(asio::any_io_executor executor, const fs::path& home, Fetch fetch, Done done)
    : executor_(std::move(executor)),
      folder_(home / "code"),
      fetch_(std::move(fetch)),
      done_(std::move(done)) {
  fs::remove_all(folder_ / "tasks");  // of an agent before this one
}

void CodeCache::want(TaskId task, const std::string& sha256) {
  const Want want{task, wants_ + 1};
  if (!wanted_.emplace(task, want.number).second) return;
  ++wants_;
  spawn(executor_, "code of " + to_string(task), prepare(want, sha256));
}

std::vector<TaskId> CodeCache::wanted() const {
  std::vector<TaskId> tasks;
  for (const auto& [task, number] : wanted_) tasks.push_back(task);
  return tasks;
}

void CodeCache::give(TaskId task, const fs::path& folder) {
  fs::rename(unpacked({task, wanted_.at(task)}), folder);
  wanted_.erase(task);
}

void CodeCache::drop(TaskId task) {
  const auto found = wanted_.find(task);
  if (found == wanted_.end()) return;
  const Want want{task, found->second};
  wanted_.erase(found);
  remove(want);
}

void CodeCache::remove(const Want& want) {
  asio::post(disk_, [path = unpacked(want)] {
    std::error_code ignored;  // what stays goes at the next start
    fs::remove_all(path, ignored);
  });
}

bool CodeCache::stands(const Want& want) const {
  const auto found = wanted_.find(want.task);
  return found != wanted_.end() && found->second == want.number;
}

fs::path CodeCache::unpacked(const Want& want) const {
  return folder_ / "tasks" / (to_string(want.task) + "." + std::to_string(want.number));
}

asio::awaitable<void> CodeCache::prepare(Want want, std::string sha256) {
  asio::steady_timer pause(executor_);
  std::string last;
  while (stands(want)) {
    try {
      const std::optional<TaskExit> failure = co_await try_to_prepare(want, sha256);
      if (stands(want))
        done_(want.task, failure);
      else
        remove(want);
      co_return;
    } catch (const std::exception& error) {
      if (stands(want) && shortage_of(error) != Shortage::none) {
        done_(want.task, TaskExit{0, 0, shortage_text(error, folder_), ExitCause::not_started});
        co_return;
      }
      if (std::exchange(last, error.what()) != error.what())
        spdlog::warn("task {}: its code cannot be prepared: {}; trying again", to_string(want.task),
                     error.what());
    }
    pause.expires_after(kRetryAfter);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<bool> CodeCache::have_packed(const std::string& sha256) {
  const fs::path packed = folder_ / sha256;
  asio::steady_timer pause(executor_);
  while (fetching_->contains(sha256)) {
    pause.expires_after(kLookAgainAfter);
    co_await pause.async_wait(asio::use_awaitable);
  }
  if (fs::exists(packed)) co_return true;
  fetching_->insert(sha256);
  struct Leave {
    std::shared_ptr<std::set<std::string>> fetching;
    std::string sha256;
    ~Leave() { fetching->erase(sha256); }
  } const leave{fetching_, sha256};
  std::optional<std::string> fetched = co_await fetch_(sha256);
  if (!fetched) co_return false;
  const auto keep = [packed, fetched = std::move(fetched)]() -> asio::awaitable<void> {
    fs::create_directories(packed.parent_path());
    write_file_atomic(packed, *fetched, 0600);
    co_return;
  };
  co_await asio::co_spawn(disk_, keep, asio::use_awaitable);
  co_return true;
}

asio::awaitable<std::optional<TaskExit>> CodeCache::try_to_prepare(const Want& want,
                                                                   const std::string& sha256) {
  const auto without = [](const std::string& why) { return TaskExit{0, 0, why, ExitCause::refused}; };
  if (!is_sha256(sha256)) co_return without("\"" + sha256 + "\" names no code; submit the job again");
  if (!co_await have_packed(sha256))
    co_return without("the coordinator has no code " + sha256 + " any more; submit the job again");
  const auto work = [packed = folder_ / sha256, sha256, to = unpacked(want),
                     folder = folder_]() -> asio::awaitable<std::string> {
    fs::create_directories(folder / "tasks");
    const std::string bytes = read_file(packed);
    if (sha256_of(bytes) != sha256) {
      fs::remove(packed);
      throw std::runtime_error(packed.string() + " is damaged; it is fetched anew");
    }
    std::string failure = unpack_anew(bytes, sha256, to);
    if (!failure.empty()) co_return failure;
    fs::last_write_time(packed, fs::file_time_type::clock::now());
    forget_old(folder);
    co_return "";
  };
  const std::string failure = co_await asio::co_spawn(disk_, work, asio::use_awaitable);
  if (!failure.empty()) co_return without(failure);
  co_return std::nullopt;
}

}  // namespace podium
