#include "worker/commands/prepare_progress.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace podium {
namespace {

constexpr std::chrono::milliseconds kBarEvery{200};
constexpr std::chrono::seconds kLineEvery{10};
constexpr std::size_t kBarWidth = 20;  // and text beside it, in 80 columns

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

ProgressPrinter::ProgressPrinter(std::uint64_t file_bytes)
    : all_bytes_(file_bytes), terminal_(::isatty(STDERR_FILENO) == 1) {}

double ProgressPrinter::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void ProgressPrinter::show(const PrepareProgress& progress) {
  if (!first_file_bytes_) {
    first_file_bytes_ = progress.file_bytes;
    first_text_bytes_ = progress.report.text_bytes;
  }
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? Clock::duration(kBarEvery) : Clock::duration(kLineEvery))) return;
  shown_ = now;
  const double share =
      all_bytes_ == 0
          ? 1
          : std::min(1.0, static_cast<double>(progress.file_bytes) / static_cast<double>(all_bytes_));
  const double read = static_cast<double>(progress.file_bytes - *first_file_bytes_) / seconds();
  const double rate = static_cast<double>(progress.report.text_bytes - first_text_bytes_) / seconds();
  const double left = (1 - share) * static_cast<double>(all_bytes_);
  const std::string told = fmt::format("{:5.1f} %  {:.1f} M tokens  {:.1f} MB/s  {} left", share * 100,
                                       static_cast<double>(progress.report.tokens) * 1e-6, rate * 1e-6,
                                       read > 0 ? clock_text(left / read) : "?");
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(share * kBarWidth);
    fmt::print(stderr, "\r[{}{}] {}\x1b[K", std::string(filled, '='), std::string(kBarWidth - filled, ' '),
               told);
    drawn_ = true;
  } else {
    fmt::print(stderr, "{}  {} documents\n", told, progress.report.data.documents);
  }
  std::fflush(stderr);
}

void ProgressPrinter::close() {
  if (drawn_) fmt::print(stderr, "\n");
  drawn_ = false;
}

}  // namespace podium
