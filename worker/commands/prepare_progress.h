// How far preparing has come, on standard error: a bar that is drawn over on a terminal, elsewhere a line
// every ten seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "worker/prepare/prepare.h"

namespace podium {

class ProgressPrinter {
 public:
  // `file_bytes` of all files together.
  explicit ProgressPrinter(std::uint64_t file_bytes);
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  ~ProgressPrinter() { close(); }

  void show(const PrepareProgress& progress);
  // Ends the bar's line.
  void close();
  double seconds() const;  // since it was made

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t all_bytes_;
  bool terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  bool drawn_ = false;
  // Where this run began, for the rate of a run that goes on.
  std::optional<std::uint64_t> first_file_bytes_;
  std::uint64_t first_text_bytes_ = 0;
};

}  // namespace podium
