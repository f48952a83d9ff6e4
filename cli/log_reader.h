// What a job's processes wrote, of one rank or of all: each line with its rank, and its stream where there
// are both, in front, but where there is one source alone. Prints whole lines.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/client.h"

namespace podium::cli {

// How far before the end of what is there to begin: at most so much of each source.
struct Tail {
  std::optional<std::int64_t> lines;
  std::optional<std::int64_t> bytes;  // neither: from the beginning
};

// "30": lines; "64KiB": bytes. Nothing for anything else.
std::optional<Tail> parse_tail(const std::string& text);

struct LogWish {
  std::optional<int> attempt;  // none: the last, and those that follow
  std::optional<int> rank;     // none: all
  bool out = true, err = true;
  std::optional<Tail> tail;  // none: a screen or two
};

class LogReader {
 public:
  LogReader(const Client& client, LogWish wish) : client_(client), wish_(std::move(wish)) {}

  // Prints what is new; `job` is as GET /jobs/{job} tells of it, without its attempts where one rank is
  // wished for. False when nothing was.
  bool read(const nlohmann::json& job);
  // Of a job that has ended, whose last output may come a moment after that: until nothing more does.
  bool read_rest(const nlohmann::json& job);
  // Prints what is left without an end of line.
  void finish();

 private:
  struct Source {
    int rank = 0;
    bool out = true;
    std::int64_t next = 0;
    std::string rest;  // of a line without its end
  };

  void begin(const nlohmann::json& job, int attempt);
  bool read(Source& source, std::int64_t job);
  bool read_on(Source& source, std::int64_t job);
  std::string fetch(Source& source, std::int64_t job, const std::string& from, std::int64_t number);
  std::string fetch_tail(Source& source, std::int64_t job);
  void print_lines(Source& source);
  std::string prefix(const Source& source) const;

  const Client& client_;
  LogWish wish_;
  int attempt_ = 0;  // that is being read; 0: none yet
  bool from_tail_ = true;
  std::vector<Source> sources_;
};

}  // namespace podium::cli
