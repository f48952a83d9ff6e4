#include "agent/process/lease_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "agent/process/shim_protocol.h"
#include "common/model/lease.h"

namespace podium {
namespace {

struct Bytes {
  shim::LeaseEnd right;
  std::int64_t last_sync, lease, orphan;  // milliseconds
};

template <class Value>
void write_whole(const Fd& fd, const Value& value, const std::filesystem::path& path) {
  if (::pwrite(fd.get(), &value, sizeof value, 0) != sizeof value)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
}

// Makes the file again where the program has deleted it, with or without its folder.
Fd open_again(const std::filesystem::path& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const std::filesystem::path folder = path.parent_path();
  ::mkdir(folder.c_str(), 0700);
  if (Fd lease(::open(path.c_str(), kFlags, 0600)); lease) return lease;
  ::mkdir(folder.c_str(), 0700);  // the program was deleting it
  return open_file(path, kFlags, 0600);
}

}  // namespace

LeaseFile::LeaseFile(const std::filesystem::path& home)
    : path_(home / "lease"), fd_(open_file(path_, O_RDWR | O_CREAT, 0600)) {}

void LeaseFile::set(const LeaseRecord& record) const {
  const Bytes bytes{{to_millis(record.end), lease::leave(record.lease).count()},
                    to_millis(record.last_sync),
                    record.lease.count(),
                    record.orphan.count()};
  write_whole(fd_, bytes, path_);
}

std::optional<LeaseRecord> LeaseFile::read() const {
  Bytes bytes;
  if (::pread(fd_.get(), &bytes, sizeof bytes, 0) != sizeof bytes) return std::nullopt;
  return LeaseRecord{from_millis(bytes.right.end), from_millis(bytes.last_sync), Duration(bytes.lease),
                     Duration(bytes.orphan)};
}

TaskLease::TaskLease(const std::filesystem::path& folder) : path_(folder / shim::kLeaseFile) {}

bool TaskLease::exists(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / shim::kLeaseFile);
}

void TaskLease::set(Time end, Duration leave) {
  if (written_ == std::pair(end, leave)) return;
  write_whole(open_again(path_), shim::LeaseEnd{to_millis(end), leave.count()}, path_);
  written_ = {end, leave};
}

Time TaskLease::end() const {
  const Fd fd(::open(path_.c_str(), shim::kLeaseFlags));
  shim::LeaseEnd right;
  return ::pread(fd.get(), &right, sizeof right, 0) == sizeof right ? from_millis(right.end) : Time{};
}

}  // namespace podium
