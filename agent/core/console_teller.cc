#include "agent/core/console_teller.h"

#include <algorithm>
#include <chrono>

#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

json mark_json(const ConsoleMark& mark) {
  return {{"stdout", mark.out},
          {"stderr", mark.err},
          {"started", mark.started},
          {"bounded", mark.bounded},
          {"memory", to_json(mark.memory)}};
}

// Megatron-LM's last rank prints, and Lightning's first, whichever task that is a process of.
bool chooses_its_rank(const std::string& parser) { return parser == "megatron" || parser == "lightning"; }

}  // namespace

std::optional<ConsoleMark> mark_in(std::string_view line) {
  const json parsed = json::parse(line, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("read")) return std::nullopt;
  try {
    const json& read = parsed["read"];
    return ConsoleMark{read.at("stdout"), read.at("stderr"), read.value("started", false),
                       read.value("bounded", false),
                       console_memory_from_json(read.value("memory", json::object()))};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void ConsoleTeller::read(StreamKind stream, std::string_view line, std::int64_t end, Time now) {
  ConsoleLine told = reader_.read(line, mark_.memory);
  mark_.at(stream) = end;
  if (told.empty()) return;
  if (held_)
    tell_bounded("its output has more than " + std::to_string(kConsoleLinesASecond) +
                     " lines with metrics a second: of those beyond, the newest are told",
                 held_->mark, now);
  held_.reset();
  if (may_tell(now)) return tell(told, mark_, now);
  held_ = Held{std::move(told), mark_};
}

void ConsoleTeller::pass_over(StreamKind stream, std::int64_t end, Time now) {
  release(true, now);
  mark_.at(stream) = end;
  tell_bounded("more output comes than is read for metrics: part of it was passed over", mark_, now);
}

void ConsoleTeller::release(bool last, Time now) {
  if (!held_ || !(may_tell(now) || last)) return;
  const Held held = *std::move(held_);
  held_.reset();
  tell(held.line, held.mark, now);
}

bool ConsoleTeller::may_tell(Time now) {
  if (now > counted_) {
    const double seconds = std::chrono::duration<double>(now - counted_).count();
    room_ = std::min<double>(kConsoleLinesAtOnce, room_ + seconds * kConsoleLinesASecond);
  }
  counted_ = now;
  if (room_ < 1) return false;
  room_ -= 1;
  return true;
}

void ConsoleTeller::tell(const ConsoleLine& line, const ConsoleMark& mark, Time now) {
  json values = json::object();
  for (const auto& [name, value] : line.values) values[name] = number_to_json(value);
  append({{"type", "metrics"}, {"step", *line.step}, {"values", std::move(values)}}, mark, now);
  if (mark.memory.steps <= 0 || mark_.started) return;
  mark_.started = true;
  append({{"type", "started"}, {"step", *line.step}, {"steps", mark.memory.steps}}, mark, now);
}

void ConsoleTeller::tell_bounded(const std::string& why, const ConsoleMark& mark, Time now) {
  if (mark_.bounded) return;
  mark_.bounded = true;
  append({{"type", "note"}, {"level", "warning"}, {"message", why}}, mark, now);
}

// What has been told is as it is now, wherever reading stood.
void ConsoleTeller::append(json event, ConsoleMark mark, Time now) {
  mark.started = mark_.started;
  mark.bounded = mark_.bounded;
  event["t"] = to_millis(now);
  event["read"] = mark_json(mark);
  text_ += dump(event) + "\n";
}

std::optional<ConsoleReader> console_reader_of(const Launch& launch) {
  const MetricsSpec& wanted = launch.spec.metrics;
  if (wanted.empty()) return std::nullopt;
  // A launcher may number the nodes itself: any of them may have the program's rank 0.
  const bool first = launch.task.rank == 0 || launch.spec.processes == Processes::node;
  std::vector<std::string> parsers;
  for (const std::string& parser : wanted.parsers)
    if (first || chooses_its_rank(parser)) parsers.push_back(parser);
  auto reader = ConsoleReader::make(parsers, first ? wanted.regex : std::vector<std::string>());
  if (!reader) reader = ConsoleReader::make(parsers, {});  // RE2 of another version than the coordinator's
  if (!reader || reader->idle()) return std::nullopt;
  return std::move(reader).value();
}

}  // namespace podium
