// The safetensors format: a JSON header, then the tensors' bytes, little endian and without holes. The reader
// is strict: what it accepts, every other reader does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/base/file.h"

namespace podium {

struct TensorEntry {
  std::string name;
  std::string dtype;  // "F32", "BF16", "I64", …
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

// What a file must still be when it is read again.
struct FileDigest {
  std::int64_t bytes = 0;
  std::string xxh3;  // XXH3-64 of the content, 16 hexadecimal digits

  bool operator==(const FileDigest&) const = default;
};

FileDigest digest_of(const std::filesystem::path& path);

// Writes and fsyncs `path`. Throws std::system_error naming the file.
FileDigest write_safetensors(const std::filesystem::path& path, std::vector<TensorEntry> tensors,
                             const std::map<std::string, std::string>& metadata);

// Not a valid safetensors file, or not the tensor that was asked for; the message names the file.
struct SafetensorsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SafetensorsFile {
 public:
  struct Tensor {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;  // into the byte buffer
    std::uint64_t end = 0;
  };

  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Reads a tensor that must have this type and shape.
  void read(const std::string& name, const std::string& dtype, const std::vector<std::int64_t>& shape,
            std::span<std::byte> out) const;

 private:
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  void parse(const std::string& header);
  void check_layout(std::uint64_t buffer_bytes) const;

  std::filesystem::path path_;
  Fd file_;
  std::uint64_t data_begin_ = 0;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace podium
