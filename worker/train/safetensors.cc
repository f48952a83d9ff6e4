#include "worker/train/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

namespace podium {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

constexpr std::uint64_t kLargestHeader = 100'000'000;

// Bytes an element takes; 0 for an unknown type.
std::uint64_t size_of_dtype(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> sizes{
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

class Hasher {
 public:
  Hasher() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_64bits_reset(state_.get()); }

  void add(std::string_view bytes) {
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
    bytes_ += static_cast<std::int64_t>(bytes.size());
  }
  FileDigest digest() const {
    XXH64_canonical_t canonical{};
    XXH64_canonicalFromHash(&canonical, XXH3_64bits_digest(state_.get()));
    FileDigest digest{bytes_, ""};
    for (const unsigned char byte : canonical.digest) {
      digest.xxh3 += "0123456789abcdef"[byte >> 4];
      digest.xxh3 += "0123456789abcdef"[byte & 15];
    }
    return digest;
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
  std::int64_t bytes_ = 0;
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string make_header(const std::vector<TensorEntry>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const TensorEntry& tensor : tensors) {
    const std::uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

// JSON that names no key twice in one object.
json parse_without_duplicates(const std::string& text, const std::string& file) {
  std::vector<std::set<std::string>> keys;
  return json::parse(text, [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw SafetensorsError(file + ": the header names \"" + value.get<std::string>() + "\" twice");
    return true;
  });
}

}  // namespace

FileDigest digest_of(const std::filesystem::path& path) {
  const Fd file = open_file(path, O_RDONLY);
  std::string block(1 << 20, '\0');
  Hasher hasher;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0) throw std::system_error(errno, std::generic_category(), "read " + path.string());
    if (got == 0) return hasher.digest();
    hasher.add(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
  }
}

FileDigest write_safetensors(const std::filesystem::path& path, std::vector<TensorEntry> tensors,
                             const std::map<std::string, std::string>& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(-static_cast<int>(size_of_dtype(a.dtype)), a.name) <
           std::pair(-static_cast<int>(size_of_dtype(b.dtype)), b.name);
  });
  const Fd file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  Hasher hasher;
  const auto write = [&](std::string_view bytes) {
    hasher.add(bytes);
    write_all(file.get(), bytes, path);
  };
  write(make_header(tensors, metadata));
  for (const TensorEntry& tensor : tensors) write(as_text(tensor.bytes));
  if (::fsync(file.get()) != 0)
    throw std::system_error(errno, std::generic_category(), "fsync " + path.string());
  return hasher.digest();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), file_(open_file(path, O_RDONLY)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0)
    throw std::system_error(errno, std::generic_category(), "stat " + path.string());
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
    parse(header);
  } catch (const json::exception& error) {
    throw SafetensorsError(path.string() + ": malformed header: " + error.what());
  }
  check_layout(file_bytes - data_begin_);
}

void SafetensorsFile::parse(const std::string& header) {
  if (!header.starts_with('{')) throw SafetensorsError(path_.string() + ": the header is no JSON object");
  const json parsed = parse_without_duplicates(header, path_.string());
  for (const auto& [name, entry] : parsed.items()) {
    if (name == "__metadata__") {
      metadata_ = entry.get<std::map<std::string, std::string>>();
      continue;
    }
    Tensor tensor{entry.at("dtype"), {}, entry.at("data_offsets").at(0), entry.at("data_offsets").at(1)};
    std::uint64_t elements = 1;
    for (const json& extent : entry.at("shape")) {
      tensor.shape.push_back(static_cast<std::int64_t>(extent.get<std::uint32_t>()));
      if (__builtin_mul_overflow(elements, extent.get<std::uint64_t>(), &elements))
        throw SafetensorsError(path_.string() + ": the shape of \"" + name + "\" is too large");
    }
    std::uint64_t bytes = 0;
    const std::uint64_t element_bytes = size_of_dtype(tensor.dtype);
    if (element_bytes == 0 || __builtin_mul_overflow(elements, element_bytes, &bytes) ||
        tensor.end < tensor.begin || tensor.end - tensor.begin != bytes)
      throw SafetensorsError(path_.string() + ": type, shape and offsets of \"" + name + "\" do not agree");
    tensors_.emplace(name, std::move(tensor));
  }
}

void SafetensorsFile::check_layout(std::uint64_t buffer_bytes) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, tensor] : tensors_) ranges.emplace_back(tensor.begin, tensor.end);
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) throw SafetensorsError(path_.string() + ": tensors overlap or leave a hole");
    covered = end;
  }
  if (covered != buffer_bytes)
    throw SafetensorsError(path_.string() + ": the file is truncated or has bytes left over");
}

void SafetensorsFile::read(const std::string& name, const std::string& dtype,
                           const std::vector<std::int64_t>& shape, std::span<std::byte> out) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw SafetensorsError(path_.string() + ": no tensor \"" + name + "\"");
  const Tensor& tensor = found->second;
  if (tensor.dtype != dtype || tensor.shape != shape || tensor.end - tensor.begin != out.size())
    throw SafetensorsError(path_.string() + ": the tensor \"" + name +
                           "\" has another type or shape than the model");
  read_at(data_begin_ + tensor.begin, out);
}

void SafetensorsFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "read " + path_.string());
    if (got == 0) throw SafetensorsError(path_.string() + ": the file is truncated");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace podium
