// A text file read from begin to end and unpacked on the way: NAME.gz with zlib, NAME.zst with libzstd, any
// other name as it is. Memory does not grow with the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>

namespace podium {

class PackedText {
 public:
  // Throws BadData where the file cannot be opened or is no regular file.
  explicit PackedText(const std::filesystem::path& path);
  PackedText(PackedText&&) noexcept;
  PackedText& operator=(PackedText&&) noexcept;
  ~PackedText();

  // How many bytes of text were put into `text`; none at the end. Throws BadData where the file is cut off or
  // damaged, once all before that was read, and std::system_error where the disk fails.
  std::size_t read(std::span<char> text);
  // Goes to byte `begin` of the unpacked text, forward only. False where `stop` was raised on the way there.
  bool skip_to(std::uint64_t begin, const std::atomic<bool>& stop);

  std::uint64_t packed_bytes_read() const;

 private:
  class Unpacker;
  class PlainText;
  class Gzip;
  class Zstandard;

  std::filesystem::path path_;
  std::unique_ptr<Unpacker> unpacker_;
  std::exception_ptr damage_;  // behind what was read
};

}  // namespace podium
