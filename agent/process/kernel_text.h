// Reads short texts that the kernel generates (/proc, /sys). The shim uses it, so no C++ library and no
// allocation.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

namespace podium {

// Reads as much of the file as fits, with a terminating zero; false where it cannot be opened.
template <std::size_t kBytes>
bool read_kernel_text(const char* path, char (&text)[kBytes]) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t length = read(fd, text, kBytes - 1);
  close(fd);
  text[length > 0 ? length : 0] = '\0';
  return true;
}

}  // namespace podium
