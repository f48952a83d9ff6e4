// TFRecord framing: a record is its length, the masked CRC-32C of those eight bytes, its bytes, and theirs.
// A file is read record by record; what comes before a place where it is broken is whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace podium::cli {

std::string framed(std::string_view record);

class RecordFile {
 public:
  explicit RecordFile(const std::filesystem::path& path);  // throws std::system_error

  bool next();  // false at the end, or where the file is broken
  const std::string& record() const { return record_; }
  std::uint64_t offset() const { return offset_; }  // of what next() reads next

  // Where and how the file is broken: "byte 1234: the record ends after 7 of 40 bytes"; "" where it is whole.
  const std::string& broken() const { return broken_; }

 private:
  bool take(std::string& bytes, std::uint64_t size, const char* what);
  bool fail(const std::string& how);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::filesystem::path path_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::string head_, record_, tail_, broken_;
};

}  // namespace podium::cli
