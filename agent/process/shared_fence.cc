#include "agent/process/shared_fence.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <vector>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kLongestFence = 256;
constexpr std::size_t kLongestCluster = 64;
constexpr std::int64_t kHighestJob = 1'000'000'000;  // a folder of a higher number is nobody's job
constexpr std::int64_t kLargestGap = 1'000'000;      // of numbers without a job, between two that have one

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), what + " " + path.string());
}

fs::path epoch_path(const fs::path& job) { return job / "epoch"; }

SharedFence read_fence(int fd, const fs::path& path) {
  std::array<char, kLongestFence> text{};
  const ssize_t length = ::pread(fd, text.data(), text.size() - 1, 0);
  if (length < 0) fail("cannot read", path);
  if (length == 0) return {};  // its writer came no further
  SharedFence fence;
  long long born = 0, begun = 0;
  std::array<char, kLongestCluster + 1> cluster{};
  if (std::sscanf(text.data(), "%d %lld %64[-0-9a-f] %lld", &fence.attempt, &born, cluster.data(), &begun) <
          2 ||
      fence.attempt < 0)
    throw std::runtime_error(path.string() + " is broken; it must hold the number of the newest attempt");
  fence.born = from_millis(born);
  if (cluster != decltype(cluster){'-'}) fence.cluster = cluster.data();
  fence.begun = from_millis(begun);
  return fence;
}

void write_fence(int fd, const fs::path& path, const SharedFence& fence) {
  std::array<char, kLongestFence> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%010d %015lld %-64s %015lld\n", fence.attempt,
                    static_cast<long long>(to_millis(fence.born)),
                    fence.cluster.empty() ? "-" : fence.cluster.substr(0, kLongestCluster).c_str(),
                    static_cast<long long>(to_millis(fence.begun)));
  if (::pwrite(fd, text.data(), static_cast<std::size_t>(length), 0) != length) fail("cannot write", path);
  if (::fsync(fd) != 0) fail("cannot write", path);
}

// Locks out other nodes that raise the fence at this moment; false: one does. On a file system without locks
// this is not possible.
bool lock_fence(int fd) {
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

// Older agents did not distinguish an operator's requeue from another job, so their fence only excludes a
// first attempt, which can only meet its own gang there.
bool is_another_jobs(const SharedFence& found, const SharedFence& wanted) {
  if (found.attempt == 0) return false;
  const auto differ = [](const auto& one, const auto& other) {
    return one != std::decay_t<decltype(one)>{} && other != std::decay_t<decltype(other)>{} && one != other;
  };
  if (differ(found.cluster, wanted.cluster)) return true;
  return differ(found.born, wanted.born) && (!found.cluster.empty() || wanted.attempt == 1);
}

void expect_same_job(const fs::path& job, const SharedFence& found, const SharedFence& wanted) {
  if (is_another_jobs(found, wanted))
    throw AnotherJobs(
        job.string() +
        " belongs to another job of this number, which a lost database knew; submit this one again to get "
        "another number");
}

fs::path shared_id_path(const fs::path& shared) { return shared / "podium-shared.id"; }

std::string read_shared_id(const fs::path& path) {
  std::string id = read_file(path);
  while (id.ends_with('\n')) id.pop_back();
  if (id.size() != kIdDigits || id.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw std::runtime_error(path.string() + " is broken; it must hold 32 hexadecimal digits");
  return id;
}

// Also where it is at the same attempt and an older agent did not record when that was decided.
bool is_lower(const SharedFence& fence, const SharedFence& wanted) {
  return fence.attempt < wanted.attempt ||
         (fence.attempt == wanted.attempt && fence.begun == Time{} && wanted.begun != Time{});
}

// The jobs' numbers, the highest first.
std::vector<std::int64_t> numbers_in(const fs::path& jobs) {
  std::vector<std::int64_t> numbers;
  for (const auto& entry : fs::directory_iterator(jobs)) {
    const std::string name = entry.path().filename();
    std::int64_t job = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
    if (error == std::errc() && end == name.data() + name.size() && job > 0 && job <= kHighestJob)
      numbers.push_back(job);
  }
  std::ranges::sort(numbers, std::ranges::greater());
  return numbers;
}

// Programs may make folders there, too, and files in them.
bool is_fenced_by(const fs::path& job, const std::string& cluster) {
  try {
    const SharedFence fence = read_shared_fence(job);
    return fence.attempt > 0 && (fence.cluster.empty() || fence.cluster == cluster);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

bool gives_way(const SharedFence& own, const SharedFence& fence) {
  const bool is_another = own.begun != Time{} && fence.begun != Time{} && own.begun != fence.begun;
  return own.attempt < fence.attempt || (own.attempt == fence.attempt && is_another);
}

std::string why_another_folder(const fs::path& shared, const std::string& id) {
  try {
    if (read_shared_id(shared_id_path(shared)) == id) return "";
  } catch (const std::exception& error) {
    return error.what();
  }
  return shared.string() + " is not the shared folder that it was; mount that again";
}

std::string shared_folder_id(const fs::path& shared, const std::string& fresh) {
  const fs::path path = shared_id_path(shared);
  if (!fs::exists(path)) {
    // Written elsewhere and then linked: every reader sees the whole file, and only one writer is first.
    const fs::path draft = shared / (".podium-shared." + fresh);
    write_file_atomic(draft, fresh + "\n");
    const bool failed = ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST;
    const int error = errno;
    fs::remove(draft);
    errno = error;
    if (failed) fail("cannot make", path);
    sync_folder(shared);
  }
  return read_shared_id(path);
}

fs::path shared_job_folder(const fs::path& jobs, JobId job) { return jobs / to_string(job); }

std::int64_t highest_job(const fs::path& jobs, const std::string& cluster) {
  if (!fs::exists(jobs)) return 0;
  std::int64_t highest = 0;
  for (const std::int64_t job : numbers_in(jobs)) {
    if (!is_fenced_by(shared_job_folder(jobs, {job}), cluster)) continue;
    if (highest > 0 && highest - job <= kLargestGap) return highest;
    highest = job;
  }
  return highest <= kLargestGap ? highest : 0;
}

SharedFence read_shared_fence(const fs::path& job) {
  const fs::path path = epoch_path(job);
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO there makes nobody wait
  if (!fd && errno == ENOENT) return {};
  if (!fd) fail("cannot open", path);
  return read_fence(fd.get(), path);
}

SharedFence raise_shared_fence(const fs::path& job, const SharedFence& wanted) {
  SharedFence found = read_shared_fence(job);
  expect_same_job(job, found, wanted);
  if (!is_lower(found, wanted)) return found;
  const bool made = !fs::exists(job);
  fs::create_directories(job / "checkpoints");
  const fs::path path = epoch_path(job);
  const Fd fd = open_file(path, O_RDWR | O_CREAT, 0600);
  sync_folder(job);  // before the lock, which others wait for
  if (made) sync_folder(job.parent_path());
  if (!lock_fence(fd.get())) return found;
  found = read_fence(fd.get(), path);  // another node may have been quicker
  expect_same_job(job, found, wanted);
  if (!is_lower(found, wanted)) return found;
  const SharedFence raised{wanted.attempt, wanted.born == Time{} ? found.born : wanted.born,
                           wanted.cluster.empty() ? found.cluster : wanted.cluster, wanted.begun};
  write_fence(fd.get(), path, raised);
  return raised;
}

}  // namespace podium
