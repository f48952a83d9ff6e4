// Short texts that the kernel makes up when they are read (/proc, /sys). For the shim too: no C++ library, no
// allocation.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

namespace podium {

// As much of the file as there is room for, ended by a zero; false where it cannot be opened.
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
