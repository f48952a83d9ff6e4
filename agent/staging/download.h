// A file over HTTP or HTTPS into a folder of the node, checked by its sha256. What an earlier download has
// left is gone on with. Blocking: for a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "agent/staging/progress.h"
#include "common/net/retry.h"

namespace podium {

struct DownloadRules {
  RetryPolicy pause{std::chrono::milliseconds(1000), std::chrono::milliseconds(30'000)};
  int tries = 6;  // in a row without a byte
  std::chrono::milliseconds idle_timeout{60'000};
  int redirects = 5;
  std::string ca_file;  // "": the system's authorities
};

// `room` is told how large the file is as far as is known, and throws where it has no room. The file at
// `path` is whole, checked and on disk when this returns. Throws StagingFailure, StagingStopped and
// std::system_error.
void download(const std::string& url, const std::string& sha256, const std::filesystem::path& path,
              const std::function<void(std::int64_t bytes)>& room, const DownloadRules& rules,
              StagingProgress& progress, const std::stop_token& stop);

// Where a redirect from `from` leads.
std::string redirected(const std::string& from, const std::string& location);

}  // namespace podium
