#include "common/base/tar.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <stdexcept>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kPrefixBytes = 155;

struct Header {
  char name[kNameBytes], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
  char target[kNameBytes], magic[6], version[2], user[32], group[32], major[8], minor[8];
  char prefix[kPrefixBytes], padding[12];
};
static_assert(sizeof(Header) == kBlock);

std::size_t padded(std::size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

template <std::size_t Size>
void put_octal(char (&field)[Size], std::size_t value) {
  for (std::size_t i = Size - 1; i-- > 0; value /= 8) field[i] = static_cast<char>('0' + value % 8);
}

template <std::size_t Size>
std::size_t octal(const char (&field)[Size]) {
  std::size_t value = 0;
  const char* begin = std::find_if(field, field + Size, [](char c) { return c != ' '; });
  if (std::from_chars(begin, field + Size, value, 8).ec != std::errc{})
    throw std::invalid_argument("the archive is damaged: a number is none");
  return value;
}

template <std::size_t Size>
std::string text(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

unsigned checksum(Header header) {
  std::memset(header.checksum, ' ', sizeof header.checksum);
  std::array<unsigned char, kBlock> bytes;
  std::memcpy(bytes.data(), &header, kBlock);
  unsigned sum = 0;
  for (const unsigned char byte : bytes) sum += byte;
  return sum;
}

// A long name is cut at a slash, its first part into the prefix.
void put_name(Header& header, std::string_view name) {
  std::size_t cut = 0;
  if (name.size() > kNameBytes) {
    cut = name.rfind('/', kPrefixBytes);
    if (cut == std::string_view::npos || name.size() - cut - 1 > kNameBytes)
      throw std::invalid_argument(std::string(name) + ": the path is too long");
    name.copy(header.prefix, cut++);
  }
  name.substr(cut).copy(header.name, kNameBytes);
}

Header header_of(const TarEntry& entry) {
  Header header{};
  put_name(header, entry.name);
  const bool is_file = entry.kind == TarEntry::Kind::file;
  put_octal(header.mode, is_file && !entry.executable ? 0644 : 0755);
  put_octal(header.uid, 0);
  put_octal(header.gid, 0);
  put_octal(header.size, is_file ? entry.content.size() : 0);
  put_octal(header.mtime, 0);
  header.type = is_file ? '0' : entry.kind == TarEntry::Kind::folder ? '5' : '2';
  if (entry.kind == TarEntry::Kind::link) {
    if (entry.content.size() > kNameBytes)
      throw std::invalid_argument(entry.name + ": the link's target is too long");
    entry.content.copy(header.target, kNameBytes);
  }
  std::memcpy(header.magic, "ustar", 6);
  std::memcpy(header.version, "00", 2);
  const unsigned sum = checksum(header);
  put_octal(header.checksum, sum);
  return header;
}

TarEntry entry_of(const Header& header) {
  if (std::memcmp(header.magic, "ustar", 5) != 0 || octal(header.checksum) != checksum(header))
    throw std::invalid_argument("the archive is damaged: a header does not add up");
  TarEntry entry;
  const std::string prefix = text(header.prefix);
  entry.name = prefix.empty() ? text(header.name) : prefix + "/" + text(header.name);
  entry.executable = (octal(header.mode) & 0100) != 0;
  switch (header.type) {
    case '0':
      break;
    case '5':
      entry.kind = TarEntry::Kind::folder;
      break;
    case '2':
      entry.kind = TarEntry::Kind::link;
      entry.content = text(header.target);
      break;
    default:
      throw std::invalid_argument(entry.name + " is neither a file nor a folder nor a symbolic link");
  }
  return entry;
}

void check(const TarEntry& entry) {
  std::string why = bad_tar_name(entry.name);
  if (why.empty() && entry.kind == TarEntry::Kind::link) why = bad_tar_link(entry.name, entry.content);
  if (!why.empty()) throw std::invalid_argument(entry.name + " " + why);
}

// Nothing lies below a file or link, and nothing is there twice: what a link leads to cannot be changed by another.
void check_together(const std::vector<TarEntry>& entries) {
  std::map<std::string_view, TarEntry::Kind> kinds;
  for (const TarEntry& entry : entries)
    if (!kinds.emplace(entry.name, entry.kind).second)
      throw std::invalid_argument(entry.name + " is in the archive twice");
  for (const TarEntry& entry : entries)
    for (std::size_t at = entry.name.find('/'); at != std::string::npos; at = entry.name.find('/', at + 1)) {
      const auto above = kinds.find(std::string_view(entry.name).substr(0, at));
      if (above != kinds.end() && above->second != TarEntry::Kind::folder)
        throw std::invalid_argument(entry.name + " lies below what is no folder");
    }
}

void unpack(const TarEntry& entry, const fs::path& folder) {
  const fs::path path = folder / entry.name;
  if (entry.kind == TarEntry::Kind::folder) {
    fs::create_directories(path);
    return;
  }
  fs::create_directories(path.parent_path());
  if (entry.kind == TarEntry::Kind::link) return fs::create_symlink(entry.content, path);
  const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, entry.executable ? 0755 : 0644);
  write_all(fd.get(), entry.content, path);
}

}  // namespace

std::string bad_tar_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos)
    return "is no relative path";
  for (const fs::path& part : fs::path(name))
    if (part == ".." || part == "." || part.empty()) return "is no plain path";
  return name.find("//") == std::string_view::npos ? "" : "is no plain path";
}

// Beyond its beginning a target must not climb: what it climbs from may be a link itself.
std::string bad_tar_link(std::string_view name, std::string_view target) {
  if (target.empty() || target.front() == '/') return "leads out of the folder: it is an absolute link";
  auto depth = std::ranges::count(name, '/');
  bool climbs = true;
  for (const fs::path& part : fs::path(target)) {
    if (part != "..") {
      climbs = false;
    } else if (!climbs || --depth < 0) {
      return "leads out of the folder, or may: it is a link to " + std::string(target);
    }
  }
  return "";
}

std::string tar_of(std::vector<TarEntry> entries) {
  std::ranges::sort(entries, {}, &TarEntry::name);
  std::string tar;
  for (const TarEntry& entry : entries) {
    check(entry);
    const Header header = header_of(entry);
    tar.append(reinterpret_cast<const char*>(&header), kBlock);
    if (entry.kind != TarEntry::Kind::file) continue;
    tar += entry.content;
    tar.resize(padded(tar.size()));
  }
  tar.resize(tar.size() + 2 * kBlock);
  return tar;
}

std::vector<TarEntry> read_tar(std::string_view tar) {
  std::vector<TarEntry> entries;
  while (true) {
    if (tar.size() < kBlock) throw std::invalid_argument("the archive is cut off");
    Header header;
    std::memcpy(&header, tar.data(), kBlock);
    tar.remove_prefix(kBlock);
    if (header.name[0] == '\0') break;
    TarEntry entry = entry_of(header);
    check(entry);
    if (const std::size_t size = octal(header.size); entry.kind == TarEntry::Kind::file && size > 0) {
      if (tar.size() < size || tar.size() < padded(size))
        throw std::invalid_argument("the archive is cut off");
      entry.content = tar.substr(0, size);
      tar.remove_prefix(padded(size));
    }
    entries.push_back(std::move(entry));
  }
  check_together(entries);
  return entries;
}

// Links come last: no file is written through one.
void unpack_tar(std::string_view tar, const fs::path& folder) {
  std::vector<TarEntry> entries = read_tar(tar);
  std::ranges::stable_partition(entries, [](const TarEntry& e) { return e.kind != TarEntry::Kind::link; });
  fs::create_directories(folder);
  for (const TarEntry& entry : entries) unpack(entry, folder);
}

}  // namespace podium
