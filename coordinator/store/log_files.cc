#include "coordinator/store/log_files.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace podium {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& doing, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot " + doing + " " + path.string());
}

fs::path piece_path(const fs::path& log, std::int64_t number) {
  return number == 0 ? log : fs::path(log.string() + "." + std::to_string(number));
}

// 0 where there is no such file.
std::int64_t size_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return info.st_size;
  if (errno != ENOENT) fail("look at", path);
  return 0;
}

void write_at(const Fd& file, const fs::path& path, std::int64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
}

// "" at the end of the file or when there is none.
std::string read_at(const fs::path& path, std::int64_t at, std::int64_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return "";
  if (!file) fail("open", path);
  std::string text(static_cast<std::size_t>(limit), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), at);
  if (got < 0) fail("read", path);
  text.resize(static_cast<std::size_t>(got));
  return text;
}

// Where the first existing piece after `piece` begins; `end` where there is none.
std::int64_t next_kept(const fs::path& log, std::int64_t piece, std::int64_t end) {
  const std::string prefix = log.filename().string() + ".";
  std::int64_t next = end;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(log.parent_path(), gone)) {
    const std::string name = entry.path().filename();
    std::int64_t number = 0;
    if (!name.starts_with(prefix)) continue;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (number > piece) next = std::min(next, number * kLogPiece);
  }
  return next;
}

// The bytes at `offset` in one file; an older log, without pieces, has all of them in the first.
std::string read_piece(const fs::path& log, std::int64_t offset, std::int64_t limit) {
  const std::int64_t piece = offset / kLogPiece;
  std::string text = read_at(log, offset, piece == 0 ? std::min(limit, kLogPiece - offset) : limit);
  if (!text.empty() || piece == 0) return text;
  const std::int64_t at = offset % kLogPiece;
  return read_at(piece_path(log, piece), at, std::min(limit, kLogPiece - at));
}

}  // namespace

fs::path logs_of(const fs::path& home, JobId job) { return home / "logs" / to_string(job); }

std::int64_t size_of_logs(const fs::path& home, JobId job) {
  std::int64_t size = 0;
  std::error_code gone;
  for (fs::recursive_directory_iterator it(logs_of(home, job), gone), end; !gone && it != end;
       it.increment(gone)) {
    std::error_code unknown;
    const auto bytes = it->is_regular_file(unknown) ? it->file_size(unknown) : 0;
    if (!unknown) size += static_cast<std::int64_t>(bytes);
  }
  return size;
}

fs::path log_path(const fs::path& home, TaskId task, StreamKind stream) {
  return home / "logs" / to_string(task.attempt.job) / std::to_string(task.attempt.number) /
         (std::to_string(task.rank) + "." + std::string(to_string(stream)));
}

LogWriter::LogWriter(fs::path home, std::int64_t limit)
    : home_(std::move(home)),
      head_(std::max<std::int64_t>(1, limit / kLogPiece / 4)),
      tail_(std::max<std::int64_t>(1, limit / kLogPiece - head_)) {}

std::int64_t LogWriter::write(TaskId task, StreamKind stream, std::int64_t from, std::int64_t offset,
                              std::string_view bytes) {
  if (bytes.empty()) return 0;
  const fs::path log = log_path(home_, task, stream);
  fs::create_directories(log.parent_path());
  const std::int64_t last = (offset + std::ssize(bytes) - 1) / kLogPiece;
  const std::int64_t tail = last - tail_ + 1;  // where the end that stays begins
  const std::int64_t was = from / kLogPiece;
  std::int64_t grown = -drop(log, std::max(head_, was - tail_), std::min(was, tail - 1));
  while (!bytes.empty()) {
    const std::int64_t piece = offset / kLogPiece, at = offset % kLogPiece;
    const auto size = std::min(bytes.size(), static_cast<std::size_t>(kLogPiece - at));
    const bool old_log_ends_here = piece > 0 && size_of(log) >= offset;  // all of it in the first file
    if (piece < head_ || piece >= tail)
      grown += write_piece(piece_path(log, piece), at, bytes.substr(0, size), old_log_ends_here);
    bytes.remove_prefix(size);
    offset += static_cast<std::int64_t>(size);
  }
  return grown;
}

// Pieces that are there among these; returns their size.
std::int64_t LogWriter::drop(const fs::path& log, std::int64_t first, std::int64_t last) {
  std::int64_t dropped = 0;
  for (std::int64_t piece = first; piece <= last; ++piece) {
    const fs::path path = piece_path(log, piece);
    dropped += size_of(path);
    written_.erase(path);
    fs::remove(path);
  }
  return dropped;
}

// Nothing where the bytes before are missing: the piece would have a hole in its middle. `elsewhere`: they
// are in another file, which is read before this one.
std::int64_t LogWriter::write_piece(const fs::path& path, std::int64_t at, std::string_view bytes,
                                    bool elsewhere) {
  const std::int64_t size = size_of(path);
  if (at > size && !elsewhere) return 0;
  Fd& file = written_[path];
  if (!file) file = open_file(path, O_WRONLY | O_CREAT, 0600);
  write_at(file, path, at, bytes);
  return std::max<std::int64_t>(0, at + std::ssize(bytes) - size);
}

void LogWriter::sync() {
  const auto files = std::exchange(written_, {});
  for (const auto& [path, file] : files)
    if (::fdatasync(file.get()) != 0) fail("sync", path);
}

LogPart read_log(const fs::path& log, std::int64_t offset, std::int64_t limit, std::int64_t end) {
  LogPart part{"", offset, 0};
  while (part.next < end && std::ssize(part.text) < limit) {
    const std::int64_t room = std::min(limit - std::ssize(part.text), end - part.next);
    const std::string text = read_piece(log, part.next, room);
    part.text += text;
    part.next += std::ssize(text);
    if (!text.empty()) continue;
    const std::int64_t next = next_kept(log, part.next / kLogPiece, end);
    part.text += fmt::format(
        "\n[podium: {} bytes of this output are not kept (--log-limit, --logs-quota and --keep-logs "
        "of the coordinator)]\n",
        next - part.next);
    part.lost += next - part.next;
    part.next = next;
  }
  return part;
}

std::optional<std::int64_t> start_of_lines(const fs::path& log, std::int64_t lines, std::int64_t end,
                                           std::int64_t& budget) {
  constexpr std::int64_t kStep = 64 * 1024;  // divides a piece
  if (lines == 0) return end;
  std::int64_t found = 0;
  for (std::int64_t at = end; at > 0;) {
    if (budget <= 0) return std::nullopt;
    const std::int64_t from = (at - 1) / kStep * kStep;
    const std::string text = read_piece(log, from, at - from);
    budget -= kStep;
    for (std::int64_t i = std::ssize(text); i > 0; --i) {
      const std::int64_t after = from + i;
      if (text[static_cast<std::size_t>(i - 1)] == '\n' && after != end && ++found == lines) return after;
    }
    at = from;
  }
  return 0;
}

}  // namespace podium
