#include "agent/process/lease_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

namespace podium {

LeaseFile::LeaseFile(const std::filesystem::path& home)
    : path_(home / "lease"), fd_(open_file(path_, O_WRONLY | O_CREAT, 0600)) {}

void LeaseFile::set(Time end) const {
  const std::int64_t millis = to_millis(end);
  if (::pwrite(fd_.get(), &millis, sizeof millis, 0) != sizeof millis)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path_.string());
}

}  // namespace podium
