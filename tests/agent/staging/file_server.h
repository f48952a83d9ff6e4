// A real HTTP server, file_server.py, of a folder of the test's.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/paths.h"

namespace podium::test {

class FileServer {
 public:
  // `certificate`: PEM with its key, for HTTPS.
  explicit FileServer(std::filesystem::path folder, const std::string& certificate = "")
      : folder_(std::move(folder)),
        tls_(!certificate.empty()),
        child_(command(folder_, certificate), folder_ / "server.log") {
    while (port_.empty() || port_.back() != '\n') {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (std::filesystem::exists(folder_ / "server.log")) port_ = read_file(folder_ / "server.log");
      if (!child_.running()) throw std::runtime_error("the file server ended: " + port_);
    }
    port_.pop_back();
  }

  std::string url(const std::string& path) const {
    return (tls_ ? "https" : "http") + ("://127.0.0.1:" + port_) + path;
  }
  // One line each: path and Range.
  std::string requests() const {
    const auto path = folder_ / "requests";
    return std::filesystem::exists(path) ? read_file(path) : "";
  }

 private:
  static std::vector<std::string> command(const std::filesystem::path& folder,
                                          const std::string& certificate) {
    std::vector<std::string> command{"/usr/bin/python3", source_path("tests/agent/staging/file_server.py"),
                                     folder};
    if (!certificate.empty()) command.push_back(certificate);
    return command;
  }

  std::filesystem::path folder_;
  bool tls_;
  Child child_;
  std::string port_;
};

}  // namespace podium::test
