#include "worker/formats/hashed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

namespace podium {
namespace {

constexpr std::size_t kBlock = 1 << 20;         // fits a core's second-level cache
constexpr std::size_t kDirectAlignment = 4096;  // of address, offset and length: no disk asks for more

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

FileDigest digest_of(const std::filesystem::path& path) {
  const Fd file = open_file(path, O_RDONLY);
  std::string block(kBlock, '\0');
  Xxh3 hash;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path);
    if (got == 0) return hash.digest();
    hash.add(std::as_bytes(std::span(block)).first(static_cast<std::size_t>(got)));
  }
}

void HashedFile::FreeBlock::operator()(std::byte* block) const { std::free(block); }

HashedFile::HashedFile(const std::filesystem::path& path)
    : path_(path),
      file_(open_file(path, O_WRONLY | O_CREAT | O_TRUNC)),
      direct_(::fcntl(file_.get(), F_SETFL, O_DIRECT) == 0),
      block_(static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, kBlock))) {
  if (!block_) throw std::bad_alloc();
}

std::span<std::byte> HashedFile::room() { return {block_.get() + used_, kBlock - used_}; }

void HashedFile::advance(std::size_t bytes) {
  used_ += bytes;
  if (used_ == kBlock) write_block();
}

void HashedFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), room().size());
    std::memcpy(room().data(), bytes.data(), count);
    advance(count);
    bytes = bytes.subspan(count);
  }
}

// Past the page cache as long as the file system takes it; what it does not take goes the ordinary way.
void HashedFile::write_block() {
  std::span<const std::byte> rest(block_.get(), used_);
  hash_.add(rest);
  used_ = 0;
  if (direct_ && rest.size() % kDirectAlignment == 0) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno != EINVAL) fail("cannot write", path_);
    rest = rest.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  if (rest.empty()) return;
  if (direct_ && ::fcntl(file_.get(), F_SETFL, 0) != 0) fail("cannot write", path_);
  direct_ = false;
  write_all(file_.get(), as_text(rest), path_);
}

FileDigest HashedFile::finish() {
  if (used_ > 0) write_block();
  if (::fsync(file_.get()) != 0) fail("cannot sync", path_);
  return hash_.digest();
}

}  // namespace podium
