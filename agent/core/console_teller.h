// Turns what a task's program prints into the lines of console.jsonl. Each of them says up to where the
// output was read and what the reader remembers then, so that an agent that starts again goes on after the
// last one: nothing is told twice, and nothing is lost. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/console/console_reader.h"
#include "common/model/launch.h"
#include "common/model/stream_chunk.h"

namespace podium {

// Of lines with metrics that a task may tell; of what is beyond, the newest is told later.
inline constexpr int kConsoleLinesASecond = 100;
inline constexpr int kConsoleLinesAtOnce = 1000;

// Where reading stands after a line: all bytes of the output before these offsets have been read.
struct ConsoleMark {
  std::int64_t out = 0, err = 0;
  bool started = false;  // how many steps there will be has been told
  bool bounded = false;  // that lines were left out has been told
  ConsoleMemory memory;

  std::int64_t& at(StreamKind stream) { return stream == StreamKind::out ? out : err; }
  bool operator==(const ConsoleMark&) const = default;
};

// The mark in a line of console.jsonl; nothing where it is none of these.
std::optional<ConsoleMark> mark_in(std::string_view line);

class ConsoleTeller {
 public:
  ConsoleTeller(ConsoleReader reader, const ConsoleMark& from) : reader_(std::move(reader)), mark_(from) {}

  // Reads the next line of the stream, which ends at that offset.
  void read(StreamKind stream, std::string_view line, std::int64_t end, Time now);
  // Output up to the offset was not read: there was more of it than is read, or it is gone.
  void pass_over(StreamKind stream, std::int64_t end, Time now);
  // Tells the line that was held back, where it may; `last`: in any case.
  void release(bool last, Time now);

  std::int64_t at(StreamKind stream) { return mark_.at(stream); }
  const std::string& text() const { return text_; }  // to be appended
  void written() { text_.clear(); }

 private:
  struct Held {
    ConsoleLine line;
    ConsoleMark mark;
  };

  bool may_tell(Time now);
  void tell(const ConsoleLine& line, const ConsoleMark& mark, Time now);
  void tell_bounded(const std::string& why, const ConsoleMark& mark, Time now);
  void append(nlohmann::json event, ConsoleMark mark, Time now);

  ConsoleReader reader_;
  ConsoleMark mark_;
  std::optional<Held> held_;
  std::string text_;
  double room_ = kConsoleLinesAtOnce;  // lines that may be told now
  Time counted_{};                     // since when room_ is counted on
};

// What is read from the output of this task; nothing where its spec asks for nothing, or another rank's
// output has it: rank 0 tells, unless the program chooses the rank.
std::optional<ConsoleReader> console_reader_of(const Launch& launch);

}  // namespace podium
