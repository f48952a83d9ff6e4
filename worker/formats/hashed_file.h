// Files that are written once, from front to end, and verified by their checksum later. Small blocks go past
// the page cache if the file system allows it, so that a gigabyte of checkpoint costs the training beside it
// little processor time and no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "common/base/file.h"
#include "worker/data/xxh3.h"

namespace podium {

FileDigest digest_of(const std::filesystem::path& path);

// Throws std::system_error that names the file.
class HashedFile {
 public:
  explicit HashedFile(const std::filesystem::path& path);

  // Where the next bytes go; never empty. `advance` takes the number of bytes put there, and writes full
  // blocks.
  std::span<std::byte> room();
  void advance(std::size_t bytes);
  void write(std::span<const std::byte> bytes);

  // Writes the rest and syncs the file to the disk. No other call may follow.
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
