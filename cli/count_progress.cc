#include "cli/count_progress.h"

#include <unistd.h>

#include <cstdio>

#include "cli/humanise.h"

namespace podium::cli {

CountProgress::~CountProgress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void CountProgress::tell(std::uint64_t done) {
  const auto now = Clock::now();
  if (now < next_ || ::isatty(STDERR_FILENO) != 1) return;
  next_ = now + std::chrono::milliseconds(100);
  shown_ = true;
  std::fprintf(stderr, "\r%s %s of %s", what_.c_str(), human_count(static_cast<std::int64_t>(done)).c_str(),
               human_count(static_cast<std::int64_t>(all_)).c_str());
}

}  // namespace podium::cli
