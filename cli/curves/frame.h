// TFRecord framing: a frame is its length, the masked CRC-32C of those eight bytes, its bytes, and theirs.
// A file is read frame by frame; what comes before a place where it is broken is whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace podium::cli {

std::string framed(std::string_view frame);

class FrameFile {
 public:
  // No more than `size` bytes of it. Throws std::system_error.
  explicit FrameFile(const std::filesystem::path& path, std::uint64_t size = UINT64_MAX);

  bool next();  // false at the end, or where the file is broken
  const std::string& frame() const { return frame_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t offset() const { return offset_; }  // of what next() reads next

  // Where and how the file is broken: "byte 1234: the frame ends after 7 of 40 bytes"; "" where it is whole.
  const std::string& broken() const { return broken_; }

 private:
  bool take(std::string& bytes, std::uint64_t size, const char* what);
  bool fail(const std::string& how);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::filesystem::path path_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::string head_, frame_, tail_, broken_;
};

}  // namespace podium::cli
