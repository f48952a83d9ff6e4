// The stdout and stderr of tasks, as files `<home>/logs/<job>/<attempt>/<rank>.<stream>`. A log is a sequence
// of pieces of kLogPiece bytes: the first has no number, the names of the others end in ".1", ".2", …. A
// piece that is missing or ends early was not kept; the reader says so in its place. The offset alone
// determines where bytes lie, so writing them again changes nothing. Failures throw std::system_error naming
// the file.
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

// The folder of all logs of the job.
std::filesystem::path logs_of(const std::filesystem::path& home, JobId job);
// In bytes; logs may be deleted meanwhile.
std::int64_t size_of_logs(const std::filesystem::path& home, JobId job);

class LogWriter {
 public:
  // About `limit` bytes at most stay of each log: a quarter from its beginning, the rest from its end.
  LogWriter(std::filesystem::path home, std::int64_t limit);

  // `from`: the end of the log before. Returns the growth of the log's files in bytes; negative where older
  // pieces were deleted.
  std::int64_t write(TaskId task, StreamKind stream, std::int64_t from, std::int64_t offset,
                     std::string_view bytes);

  // When it returns, everything written is on disk; each file is synced once.
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
  std::int64_t lost = 0;  // bytes among them that were not kept
};

// At most `limit` bytes from `offset`; `end`: where the log ends. The text says what was not kept.
LogPart read_log(const std::filesystem::path& log, std::int64_t offset, std::int64_t limit, std::int64_t end);

// The offset at which the last `lines` lines begin; the last line may have no end yet; 0 where there are
// fewer. Bytes that were not kept do not count. Lowers `budget` by the bytes read; nothing once it is used
// up.
std::optional<std::int64_t> start_of_lines(const std::filesystem::path& log, std::int64_t lines,
                                           std::int64_t end, std::int64_t& budget);

}  // namespace podium
