#include "cli/curves/frame.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "cli/curves/crc32c.h"
#include "cli/curves/wire.h"

namespace podium::cli {
namespace {

constexpr std::uint64_t kHead = 12, kTail = 4;
constexpr std::uint64_t kLongestFrame = std::uint64_t{256} << 20;  // images and graphs among scalars

bool matches(std::string_view bytes, std::string_view sum) {
  return masked_crc32c(bytes) == little_endian(sum);
}

}  // namespace

std::string framed(std::string_view frame) {
  std::string text;
  text.reserve(frame.size() + kHead + kTail);
  append_little_endian(text, frame.size(), 8);
  append_little_endian(text, masked_crc32c(text), 4);
  text += frame;
  append_little_endian(text, masked_crc32c(frame), 4);
  return text;
}

FrameFile::FrameFile(const std::filesystem::path& path, std::uint64_t size)
    : file_(std::fopen(path.c_str(), "rbe"), std::fclose), path_(path) {
  if (!file_) throw std::system_error(errno, std::generic_category(), "cannot read " + path.string());
  size_ = std::min<std::uint64_t>(size, std::filesystem::file_size(path));
  std::setvbuf(file_.get(), nullptr, _IOFBF, 1 << 20);
}

bool FrameFile::fail(const std::string& how) {
  broken_ = fmt::format("byte {}: {}", offset_, how);
  return false;
}

bool FrameFile::take(std::string& bytes, std::uint64_t size, const char* what) {
  bytes.resize(size);
  const std::size_t got = std::fread(bytes.data(), 1, size, file_.get());
  if (std::ferror(file_.get()) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot read " + path_.string());
  return got == size || fail(fmt::format("{} ends after {} of {} bytes", what, got, size));
}

bool FrameFile::next() {
  if (!broken_.empty() || offset_ >= size_) return false;
  if (!take(head_, kHead, "the head of a frame")) return false;
  const std::string_view head = head_;
  if (!matches(head.substr(0, 8), head.substr(8))) return fail("the length of a frame has another checksum");
  const std::uint64_t size = little_endian(head.substr(0, 8));
  if (size > kLongestFrame) return fail(fmt::format("a frame of {} bytes; 256 MiB are read at most", size));
  if (size + kHead > size_ - std::min(offset_, size_))
    return fail(fmt::format("a frame of {} bytes goes beyond the end of the file", size));
  if (!take(frame_, size, "a frame") || !take(tail_, kTail, "the checksum of a frame")) return false;
  if (!matches(frame_, tail_)) return fail("a frame has another checksum");
  offset_ += kHead + size + kTail;
  return true;
}

}  // namespace podium::cli
