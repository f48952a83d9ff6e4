#include "worker/formats/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "worker/tensor/dtype.h"

namespace podium {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

constexpr std::uint64_t kLargestHeader = 100'000'000;

template <class T>
void convert(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    out[i] = to_float(value);
  }
}

}  // namespace

std::uint64_t size_of_safetensors_type(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> sizes{
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

std::uint64_t TensorEntry::size() const {
  std::uint64_t size = size_of_safetensors_type(dtype);
  for (const std::int64_t extent : shape) size *= static_cast<std::uint64_t>(extent);
  return size;
}

void sort_for_safetensors(std::vector<TensorEntry>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(-static_cast<int>(size_of_safetensors_type(a.dtype)), a.name) <
           std::pair(-static_cast<int>(size_of_safetensors_type(b.dtype)), b.name);
  });
}

std::string safetensors_header(const std::vector<TensorEntry>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const TensorEntry& tensor : tensors) {
    const std::uint64_t end = offset + tensor.size();
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

FileDigest write_safetensors(const std::filesystem::path& path, std::vector<TensorEntry> tensors,
                             const std::map<std::string, std::string>& metadata) {
  const auto write = [](const TensorEntry& tensor, HashedFile& file) { file.write(tensor.bytes); };
  return write_safetensors(path, std::move(tensors), metadata, write);
}

FileDigest write_safetensors(const std::filesystem::path& path, std::vector<TensorEntry> tensors,
                             const std::map<std::string, std::string>& metadata, const TensorWriter& write) {
  sort_for_safetensors(tensors);
  const std::string header = safetensors_header(tensors, metadata);
  HashedFile file(path);
  file.write(std::as_bytes(std::span(header)));
  for (const TensorEntry& tensor : tensors) write(tensor, file);
  return file.finish();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), file_(open_file(path, O_RDONLY | O_NONBLOCK)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot stat " + path.string());
  if (!S_ISREG(status.st_mode)) throw SafetensorsError(path.string() + ": not a regular file");
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t header_bytes = 0;
  if (file_bytes < sizeof header_bytes) throw SafetensorsError(path.string() + ": too short for a header");
  read_at(0, std::as_writable_bytes(std::span(&header_bytes, 1)));
  if (header_bytes > kLargestHeader || header_bytes > file_bytes - sizeof header_bytes)
    throw SafetensorsError(path.string() + ": the header is longer than the file or the format allows");
  data_begin_ = sizeof header_bytes + header_bytes;
  std::string header(header_bytes, '\0');
  read_at(sizeof header_bytes, std::as_writable_bytes(std::span(header)));
  try {
    header_ = parse_safetensors_header(header, file_bytes - data_begin_);
  } catch (const SafetensorsError& error) {
    throw SafetensorsError(path.string() + ": " + error.what());
  }
}

const SafetensorsTensor& SafetensorsFile::at(const std::string& name) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) throw SafetensorsError(path_.string() + ": no tensor \"" + name + "\"");
  return found->second;
}

void SafetensorsFile::read(const std::string& name, const std::string& dtype,
                           const std::vector<std::int64_t>& shape, std::span<std::byte> out) const {
  const SafetensorsTensor& tensor = at(name);
  if (tensor.dtype != dtype || tensor.shape != shape || tensor.end - tensor.begin != out.size())
    throw SafetensorsError(path_.string() + ": the tensor \"" + name +
                           "\" has another type or shape than expected");
  read_at(data_begin_ + tensor.begin, out);
}

std::vector<float> SafetensorsFile::read_floats(const std::string& name) const {
  const SafetensorsTensor& tensor = at(name);
  std::vector<std::byte> bytes(tensor.end - tensor.begin);
  read_at(data_begin_ + tensor.begin, bytes);
  std::vector<float> values(bytes.size() / size_of_safetensors_type(tensor.dtype));
  if (tensor.dtype == "F32") {
    convert<float>(bytes, values);
  } else if (tensor.dtype == "BF16") {
    convert<BFloat16>(bytes, values);
  } else if (tensor.dtype == "F16") {
    convert<Float16>(bytes, values);
  } else {
    throw SafetensorsError(path_.string() + ": the tensor \"" + name + "\" has type " + tensor.dtype +
                           "; weights are F32, BF16 or F16");
  }
  return values;
}

void SafetensorsFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "cannot read " + path_.string());
    if (got == 0) throw SafetensorsError(path_.string() + ": the file is truncated");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace podium
