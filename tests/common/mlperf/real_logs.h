// The published logs in ../shared/data/mlperf, and copies of them with changes. Tests skip where they are
// absent.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/mlperf/check.h"
#include "tests/paths.h"

namespace podium::mlperf::test {

struct RealLog {
  std::string name;
  std::string text;
  Round round;

  bool is_bert() const { return name.find("_bert_") != std::string::npos; }
};

inline std::vector<RealLog> real_logs() {
  const char* const shared = std::getenv("PODIUM_SHARED_DATA");
  const auto folder =
      std::filesystem::path(shared ? shared : podium::test::source_path("../shared/data")) / "mlperf/logs";
  std::vector<RealLog> logs;
  if (!std::filesystem::exists(folder)) return logs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    logs.push_back({name, read_file(entry.path()), find_round(name.substr(0, name.find('_'))).value()});
  }
  std::ranges::sort(logs, {}, &RealLog::name);
  return logs;
}

// A log's lines, to be changed; numbers count from 1.
class Lines {
 public:
  explicit Lines(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  std::string text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

  // The numbers of the lines of `key`, ascending.
  std::vector<int> of(const std::string& key) const {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (json_of(lines_[i]).at("key") == key) numbers.push_back(static_cast<int>(i) + 1);
    return numbers;
  }
  int first(const std::string& key) const { return of(key).at(0); }
  nlohmann::json at(int number) const { return json_of(lines_.at(static_cast<std::size_t>(number) - 1)); }

  void set(int number, const std::string& line) { lines_.at(static_cast<std::size_t>(number) - 1) = line; }
  void change(int number, const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json line = at(number);
    change(line);
    set(number, ":::MLLOG " + line.dump());
  }
  void erase(int number) { lines_.erase(lines_.begin() + number - 1); }
  void erase_all(const std::string& key) {
    std::erase_if(lines_, [&](const std::string& line) { return json_of(line).at("key") == key; });
  }
  // Directly behind it.
  void repeat(int number) { insert(number + 1, lines_.at(static_cast<std::size_t>(number) - 1)); }
  void insert(int number, const std::string& line) { lines_.insert(lines_.begin() + number - 1, line); }
  void swap(int one, int other) {
    std::swap(lines_.at(static_cast<std::size_t>(one) - 1), lines_.at(static_cast<std::size_t>(other) - 1));
  }

 private:
  static nlohmann::json json_of(const std::string& line) { return nlohmann::json::parse(line.substr(9)); }

  std::vector<std::string> lines_;
};

}  // namespace podium::mlperf::test
