// Files that are written once, from front to end, and known by their checksum afterwards. They are written
// past the page cache where the file system allows it, in small blocks: a gigabyte of checkpoint then costs
// the training beside it little processor time and no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "common/base/file.h"

struct XXH3_state_s;

namespace podium {

// What a file must still be when it is read again.
struct FileDigest {
  std::int64_t bytes = 0;
  std::string xxh3;  // XXH3-64 of the content, 16 hexadecimal digits

  bool operator==(const FileDigest&) const = default;
};

FileDigest digest_of(const std::filesystem::path& path);

class Xxh3 {
 public:
  Xxh3();
  void add(std::span<const std::byte> bytes);
  FileDigest digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
  std::int64_t bytes_ = 0;
};

// Throws std::system_error naming the file.
class CheckpointFile {
 public:
  explicit CheckpointFile(const std::filesystem::path& path);

  // Where the next bytes go; never empty. `advance` says how many were put there, and writes full blocks.
  std::span<std::byte> room();
  void advance(std::size_t bytes);
  void write(std::span<const std::byte> bytes);

  // Writes what is left and makes the file durable. Nothing may follow.
  FileDigest finish();

 private:
  struct FreeBlock {
    void operator()(std::byte* block) const;
  };
  void write_block();

  std::filesystem::path path_;
  Fd file_;
  bool direct_ = false;
  std::unique_ptr<std::byte[], FreeBlock> block_;
  std::size_t used_ = 0;  // of the block
  Xxh3 hash_;
};

}  // namespace podium
