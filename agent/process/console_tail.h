// Reads the metrics in one task's output as it grows, into console.jsonl beside it
// (agent/core/console_teller.h).
#pragma once

#include <chrono>
#include <cstdint>

#include "agent/core/console_teller.h"
#include "agent/process/task_folder.h"

namespace podium {

// Of a line no more is read, to the last blank before. Where output is further ahead than kMostBehind, it is
// passed over to near its end.
inline constexpr std::size_t kLongestConsoleLine = std::size_t{8} << 10;
inline constexpr std::int64_t kConsoleMostBehind = std::int64_t{16} << 20;

class ConsoleTail {
 public:
  // Goes on after the last line of the task's console.jsonl. Throws std::system_error.
  ConsoleTail(const TaskFolder& folder, ConsoleReader reader);

  // Reads on for about `time` at most, by a line at least. `ended`: the output grows no more, and a last line
  // without its end is a line. True where all there was has been read and written. Throws std::system_error
  // where a file cannot be read or written; the next look tries again.
  bool look(bool ended, Time now, std::chrono::microseconds time);

 private:
  ConsoleTail(const TaskFolder& folder, ConsoleReader reader, std::int64_t told);

  bool is_late() const;
  bool read_piece(StreamKind stream, std::int64_t size, bool ended, Time now);
  std::int64_t read_lines(StreamKind stream, std::string_view text, Time now);
  void read_line(StreamKind stream, std::string_view line, std::int64_t end, Time now);
  bool& skipping(StreamKind stream) { return stream == StreamKind::out ? skipping_out_ : skipping_err_; }
  void write();

  TaskFolder folder_;
  ConsoleTeller teller_;
  std::int64_t written_ = 0;  // bytes of console.jsonl that are whole lines
  std::chrono::steady_clock::time_point until_{};
  bool skipping_out_ = false, skipping_err_ = false;  // reading stands within a line that is not read
};

}  // namespace podium
