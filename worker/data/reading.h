// How far the reading of a job's text has come, and what was noticed on the way. One thread reads; any other
// may look and cancel. Whoever reads calls advance() at least every few mebibytes, or nobody can stop it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace podium {

// Thrown in the reading thread after somebody cancelled.
struct ReadingCancelled {};

class Reading {
 public:
  // The reader's: work to be done and work done, in bytes.
  void expect(std::uint64_t bytes) { expected_ += bytes; }
  void advance(std::uint64_t bytes) {
    if (cancelled_) throw ReadingCancelled();
    done_ += bytes;
  }
  // What the user should know about the text.
  void warn(std::string message) { warnings_.push_back(std::move(message)); }

  void cancel() { cancelled_ = true; }
  std::uint64_t expected() const { return expected_; }
  std::uint64_t done() const { return done_; }
  const std::vector<std::string>& warnings() const { return warnings_; }  // once the reading is over

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> expected_{0};
  std::atomic<std::uint64_t> done_{0};
  std::vector<std::string> warnings_;
};

}  // namespace podium
