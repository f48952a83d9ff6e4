#include "agent/process/console_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "agent/process/file_tail.h"
#include "common/base/file.h"

namespace podium {
namespace {

constexpr std::size_t kPiece = 64 << 10;
constexpr std::int64_t kLeftWhenBehind = std::int64_t{1} << 20;
constexpr std::size_t kLongestTold = std::size_t{256} << 10;  // a line of console.jsonl is shorter

std::filesystem::path told_path(const TaskFolder& folder) { return folder.stream_path(StreamKind::console); }

// The whole lines in the file, in bytes: an agent may have been killed while it wrote the last.
std::int64_t whole_lines(const TaskFolder& folder) {
  const std::int64_t size = folder.stream_size(StreamKind::console);
  if (size == 0) return 0;
  const std::int64_t from = std::max<std::int64_t>(0, size - static_cast<std::int64_t>(kLongestTold));
  const std::string tail = read_range(told_path(folder), from, kLongestTold);
  const std::size_t end = tail.rfind('\n');
  return end == std::string::npos ? from : from + static_cast<std::int64_t>(end) + 1;
}

// Where an earlier agent stopped reading. A file that does not say, for the program has written to it, is no
// reason to tell anything twice: reading goes on at the output's end.
ConsoleMark mark_of(const TaskFolder& folder, std::int64_t told) {
  if (told == 0) return {};
  const std::int64_t from = std::max<std::int64_t>(0, told - static_cast<std::int64_t>(kLongestTold));
  std::string tail = read_range(told_path(folder), from, static_cast<std::size_t>(told - from));
  if (tail.ends_with('\n')) tail.pop_back();
  const std::size_t begin = tail.rfind('\n');
  if (const auto mark = mark_in(begin == std::string::npos ? tail : tail.substr(begin + 1))) return *mark;
  ConsoleMark end;
  end.out = folder.stream_size(StreamKind::out);
  end.err = folder.stream_size(StreamKind::err);
  return end;
}

// Whether the offset lies within a line: reading stopped where a line was too long, or in the midst of
// output.
bool is_within_line(const TaskFolder& folder, StreamKind stream, std::int64_t at) {
  if (at == 0) return false;
  const std::string before = read_range(folder.stream_path(stream), at - 1, 1);
  return before != "\n" && before != "\r";
}

}  // namespace

ConsoleTail::ConsoleTail(const TaskFolder& folder, ConsoleReader reader)
    : ConsoleTail(folder, std::move(reader), whole_lines(folder)) {}

ConsoleTail::ConsoleTail(const TaskFolder& folder, ConsoleReader reader, std::int64_t told)
    : folder_(folder), teller_(std::move(reader), mark_of(folder, told)), written_(told) {
  for (const StreamKind stream : {StreamKind::out, StreamKind::err})
    skipping(stream) = is_within_line(folder_, stream, teller_.at(stream));
}

// What a program prints to stderr before it prints to stdout is read before it, too: the size of stdout is
// taken first.
bool ConsoleTail::look(bool ended, Time now, std::chrono::microseconds time) {
  write();  // what the last look could not
  until_ = std::chrono::steady_clock::now() + time;
  const std::int64_t out = folder_.stream_size(StreamKind::out);
  const std::int64_t err = folder_.stream_size(StreamKind::err);
  bool more = false;
  do more = read_piece(StreamKind::err, err, ended, now) || read_piece(StreamKind::out, out, ended, now);
  while (more && !is_late());
  if (more) read_piece(StreamKind::out, out, ended, now);  // however much goes to stderr
  const bool all = ended && !more;
  teller_.release(all, now);
  write();
  return !more;
}

bool ConsoleTail::is_late() const { return std::chrono::steady_clock::now() >= until_; }

// Reads the next piece of the stream, which has `size` bytes; false where there is nothing to be read yet.
bool ConsoleTail::read_piece(StreamKind stream, std::int64_t size, bool ended, Time now) {
  if (size - teller_.at(stream) > kConsoleMostBehind) {
    skipping(stream) = true;
    teller_.pass_over(stream, size - kLeftWhenBehind, now);
  }
  const std::int64_t at = teller_.at(stream);
  if (at >= size) return false;
  const DataRange data = next_data(folder_.stream_path(stream), at);
  if (data.begin > at) {
    skipping(stream) = true;
    teller_.pass_over(stream, std::min(size, data.begin), now);
    return true;
  }
  const std::int64_t end = std::min({size, data.end, at + static_cast<std::int64_t>(kPiece)});
  const std::string text = read_range(folder_.stream_path(stream), at, static_cast<std::size_t>(end - at));
  if (text.empty()) return false;
  const std::int64_t taken = read_lines(stream, text, now);
  const std::string_view rest = std::string_view(text).substr(static_cast<std::size_t>(taken));
  if (taken > 0 && is_late()) return true;
  const bool before_hole = end == data.end && end < size;
  if (before_hole) skipping(stream) = true;
  const bool cut = rest.size() >= kLongestConsoleLine || before_hole;
  if (!rest.empty() && (cut || (ended && end == size))) {
    read_line(stream, rest, end, now);
    skipping(stream) = cut;
    return true;
  }
  return taken > 0;
}

// The lines of the text that have their ends, which are \n or, of progress bars, \r, as many as there is time
// for and one at least. Returns their bytes.
std::int64_t ConsoleTail::read_lines(StreamKind stream, std::string_view text, Time now) {
  const std::int64_t begin = teller_.at(stream);
  std::size_t at = 0, feed = text.find('\n'), back = text.find('\r');
  while (feed != std::string_view::npos || back != std::string_view::npos) {
    const std::size_t end = std::min(feed, back);
    read_line(stream, text.substr(at, end - at), begin + static_cast<std::int64_t>(end) + 1, now);
    skipping(stream) = false;
    at = end + 1;
    if (is_late()) break;
    (end == feed ? feed : back) = text.find(text[end], at);
  }
  return static_cast<std::int64_t>(at);
}

// A line that is too long ends before the word that is cut. One with zeros has a hole that came just now.
void ConsoleTail::read_line(StreamKind stream, std::string_view line, std::int64_t end, Time now) {
  if (line.size() >= kLongestConsoleLine) {
    const std::size_t blank = line.substr(0, kLongestConsoleLine).find_last_of(" \t");
    line = line.substr(0, blank == std::string_view::npos ? 0 : blank);
  }
  const bool is_text = !skipping(stream) && line.find('\0') == std::string_view::npos;
  teller_.read(stream, is_text ? line : std::string_view(), end, now);
}

// A write that failed may have left a part of it, which is written again as it was.
void ConsoleTail::write() {
  const std::string& text = teller_.text();
  if (text.empty()) return;
  const auto path = told_path(folder_);
  const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  struct stat file {};
  if (::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode))
    throw std::system_error(EINVAL, std::generic_category(), path.string() + " is no file");
  if (::ftruncate(fd.get(), written_) != 0 || ::lseek(fd.get(), written_, SEEK_SET) < 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
  write_all(fd.get(), text, path);
  written_ += std::ssize(text);
  teller_.written();
}

}  // namespace podium
