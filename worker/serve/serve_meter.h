// What a served model has done, for /metrics and /v1/load. Any thread may tell it and read it.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "common/base/histogram.h"
#include "worker/serve/load_window.h"

namespace podium {

class ServeMeter {
 public:
  struct Figures {
    Histogram waited{kSeconds}, computed{kSeconds}, whole{kSeconds};
    Histogram batch_sequences{{1, 2, 4, 8, 16, 32, 64, 128, 256}};
    Histogram batch_tokens{{16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}};
    std::map<std::pair<std::string, std::string>, std::uint64_t> requests;  // by endpoint and outcome
    std::uint64_t loads = 0;
  };

  void add_wait(std::chrono::nanoseconds waited);
  void add_batch(std::size_t sequences, std::size_t tokens, std::chrono::nanoseconds computed);
  void add_request(const std::string& endpoint, const std::string& outcome, std::chrono::nanoseconds whole);
  void add_load();

  Figures figures() const;
  LoadFigures load() const;  // of the last 10 s

 private:
  static inline const std::vector<double> kSeconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                   0.1,    0.25,  0.5,    1.0,   2.5,  5.0,   10.0};

  mutable std::mutex mutex_;
  Figures figures_;
  mutable LoadWindow window_{std::chrono::steady_clock::now()};
};

}  // namespace podium
