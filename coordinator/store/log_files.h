// The stdout and stderr of tasks, as files `<home>/logs/<job>/<attempt>/<rank>.<stream>`: a log is a row of
// pieces of kLogPiece bytes, the first without a number, the others with ".1", ".2", … behind the name. A
// piece that is not there, or ends early, was left out; a reader says so in its place. Where a log's bytes
// are follows from their offset alone, so writing the same again changes nothing. Failures throw
// std::system_error naming the file.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/model/stream_chunk.h"

namespace podium {

inline constexpr std::int64_t kLogPiece = std::int64_t{1} << 20;

std::filesystem::path log_path(const std::filesystem::path& home, TaskId task, StreamKind stream);

// Of all tasks of the job.
std::filesystem::path logs_of(const std::filesystem::path& home, JobId job);
// In bytes; they may go meanwhile.
std::int64_t size_of_logs(const std::filesystem::path& home, JobId job);

class LogWriter {
 public:
  // Of one log at most about `limit` bytes stay: a quarter from its beginning, the rest from its end.
  LogWriter(std::filesystem::path home, std::int64_t limit);

  // `from`: where the log ended before. Returns how much larger the log's files are now; less than 0 when
  // older pieces went.
  std::int64_t write(TaskId task, StreamKind stream, std::int64_t from, std::int64_t offset,
                     std::string_view bytes);

  // Everything written is on disk when it returns; each file is synced once.
  void sync();

 private:
  std::int64_t drop(const std::filesystem::path& log, std::int64_t first, std::int64_t last);
  std::int64_t write_piece(const std::filesystem::path& piece, std::int64_t at, std::string_view bytes,
                           bool elsewhere);

  std::filesystem::path home_;
  std::int64_t head_, tail_;  // pieces
  std::map<std::filesystem::path, Fd> written_;
};

struct LogPart {
  std::string text;
  std::int64_t next = 0;  // the offset after it
};

// Bytes from `offset`, at most `limit`; `end`: where the log ends. What was left out is told in the text.
LogPart read_log(const std::filesystem::path& log, std::int64_t offset, std::int64_t limit, std::int64_t end);

// Where the last `lines` lines begin, of which the last may have no end yet; 0 when there are not so many.
// What was not kept counts as nothing. Takes what it read off `budget`; nothing once that is used up.
std::optional<std::int64_t> start_of_lines(const std::filesystem::path& log, std::int64_t lines,
                                           std::int64_t end, std::int64_t& budget);

}  // namespace podium
