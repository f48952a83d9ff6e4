#include "worker/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/base/file.h"
#include "worker/data/bad_data.h"

namespace podium {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw BadData("cannot read " + path.string() + ": " + why);
}

Fd open_input(const std::filesystem::path& path) {
  try {
    return open_file(path, O_RDONLY);
  } catch (const std::system_error& error) {
    refuse(path, error.code().message());
  }
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Fd file = open_input(path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) refuse(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) refuse(path, "it is no regular file");
  if (info.st_size == 0) return;
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) refuse(path, std::strerror(errno));
  bytes_ = {static_cast<const char*>(address), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.data()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace podium
