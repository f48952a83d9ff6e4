// The safetensors format: a JSON header, then the tensors' bytes, little endian and without holes. The reader
// is strict: what it accepts, every other reader does; whatever a file holds, it answers with the tensors or
// with SafetensorsError, and keeps no more memory than a few times the header's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "worker/formats/hashed_file.h"
#include "worker/input/bad_data.h"

namespace podium {

// Bytes an element of such a type takes; 0 where the format knows no such type.
std::uint64_t size_of_safetensors_type(const std::string& dtype);

struct TensorEntry {
  std::string name;
  std::string dtype;  // "F32", "BF16", "I64", …
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // or none where they are written otherwise

  std::uint64_t size() const;  // in bytes, as type and shape say
};

// The order in which a file holds its tensors: widest type first, then by name.
void sort_for_safetensors(std::vector<TensorEntry>& tensors);
// The file's beginning, for tensors in that order.
std::string safetensors_header(const std::vector<TensorEntry>& tensors,
                               const std::map<std::string, std::string>& metadata);

// Writes and fsyncs `path`. Throws std::system_error naming the file.
FileDigest write_safetensors(const std::filesystem::path& path, std::vector<TensorEntry> tensors,
                             const std::map<std::string, std::string>& metadata);
// The same, of tensors that need not be in memory together: `write` puts the bytes of one into the file when
// it is its turn.
using TensorWriter = std::function<void(const TensorEntry& tensor, HashedFile& file)>;
FileDigest write_safetensors(const std::filesystem::path& path, std::vector<TensorEntry> tensors,
                             const std::map<std::string, std::string>& metadata, const TensorWriter& write);

// Not a valid safetensors file, or not the tensor that was asked for; the message names the file.
struct SafetensorsError : BadData {
  using BadData::BadData;
};

struct SafetensorsTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // into the byte buffer
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// The JSON of a header whose file holds `buffer_bytes` after it. Throws SafetensorsError.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t buffer_bytes);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, SafetensorsTensor>& tensors() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  const SafetensorsTensor& at(const std::string& name) const;

  // Reads a tensor that must have this type and shape.
  void read(const std::string& name, const std::string& dtype, const std::vector<std::int64_t>& shape,
            std::span<std::byte> out) const;
  // Reads a tensor of type F32, BF16 or F16.
  std::vector<float> read_floats(const std::string& name) const;

 private:
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  std::filesystem::path path_;
  Fd file_;
  std::uint64_t data_begin_ = 0;
  SafetensorsHeader header_;
};

}  // namespace podium
