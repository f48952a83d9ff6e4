#include "worker/input/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"

namespace podium {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const InputFile input = open_input(path);
  if (input.bytes == 0) return;
  const auto size = static_cast<std::size_t>(input.bytes);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, input.file.get(), 0);
  if (address == MAP_FAILED) throw BadData("cannot read " + path.string() + ": " + std::strerror(errno));
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
