// What a job's processes wrote, of one rank or of all, in one request a round however many they are. Each
// line comes with its rank, and its stream where there are both, in front, and whole; one source alone comes
// as its bytes are, unless its lines are wished for as JSON.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/connection.h"
#include "cli/line_buffer.h"

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
  bool as_json = false;      // each line as {"attempt", "rank", "stream", "line"}
};

class LogReader {
 public:
  using Show = std::function<void(const std::string&)>;

  LogReader(LogWish wish, Show show) : wish_(std::move(wish)), show_(std::move(show)) {}

  // Shows what is new; `job` is as GET /jobs/{job} tells of it, without its attempts where one rank is wished
  // for. False when nothing was. Where it is left in its midst the next goes on behind what was shown.
  boost::asio::awaitable<bool> read(Connection& connection, nlohmann::json job);
  // Of a job that has ended, whose last output may come a moment after that: until nothing more does.
  boost::asio::awaitable<bool> read_rest(Connection& connection, nlohmann::json job);
  // Shows lines that have no end and to which nothing is added.
  void show_unended();
  // Shows what is left without an end of line.
  void finish();

 private:
  struct Source {
    int rank = 0;
    bool out = true;
    std::int64_t next = 0;  // kTail: where its tail begins
    bool cut = false;       // its first line may have lost its beginning: it is left out
    LineBuffer lines;
  };
  // What an answer has of one source.
  struct Part {
    Source& source;
    std::int64_t offset, next, end;
    std::string_view text;
  };

  std::string lacks_rank(const nlohmann::json& job) const;
  void begin(const nlohmann::json& job, int attempt);
  boost::asio::awaitable<bool> read_on(Connection& connection, std::int64_t job);
  nlohmann::json question() const;
  std::vector<Part> parts_of(std::string_view answer);
  void take(const Part& part);
  std::string shown(const Source& source, const std::string& line) const;
  std::string prefix(const Source& source) const;

  LogWish wish_;
  Show show_;
  int attempt_ = 0;  // that is being read; 0: none yet
  bool from_tail_ = true;
  std::vector<Source> sources_;
};

}  // namespace podium::cli
