// "done 3,000 of 10,000" on standard error, where a person watches and it takes longer than a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace podium::cli {

class CountProgress {
 public:
  CountProgress(std::string what, std::uint64_t all) : what_(std::move(what)), all_(all) {}
  ~CountProgress();
  CountProgress(const CountProgress&) = delete;
  CountProgress& operator=(const CountProgress&) = delete;

  void tell(std::uint64_t done);  // often: it draws ten times a second

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::uint64_t all_;
  bool shown_ = false;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

}  // namespace podium::cli
