// Metrics in what programs print: what one line tells, and what a reader remembers from line to line. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

// What one line tells. Empty: nothing.
struct ConsoleLine {
  std::optional<std::int64_t> step;
  std::vector<std::pair<std::string, double>> values;

  bool empty() const { return !step && values.empty(); }
};

// What earlier lines say of later ones. A reader that starts again with the memory it had after a line reads
// what follows that line as it would have before.
struct ConsoleMemory {
  std::int64_t step = 0;   // the last that was told; without any, the number of lines with values
  std::int64_t steps = 0;  // how many there will be; 0: not known
  bool counts = true;      // no line has told a step

  // Of the banner that Hugging Face's Trainer prints before it trains.
  bool banner = false;  // its lines come now
  std::int64_t examples = 0, epochs = 0, batch = 0;

  std::uint64_t seen = 0;       // hash of the last progress bar's values
  std::uint64_t evaluated = 0;  // and of those of held-out data in it

  bool operator==(const ConsoleMemory&) const = default;
};

nlohmann::json to_json(const ConsoleMemory& memory);
// What another version left out is as in a new memory. Throws nlohmann::json::exception.
ConsoleMemory console_memory_from_json(const nlohmann::json& json);

// A number as programs print it: "2.5E+00", "1,234", "nan", "-inf", with spaces around it. Nothing else.
std::optional<double> console_number(std::string_view text);
// A number that may be a step, as text or as a number: whole, from 0 to 2^53.
std::optional<std::int64_t> console_count(std::string_view text);
std::optional<std::int64_t> console_step(double number);

// What follows the first `key` in `line`; "" where there is none.
std::string_view after(std::string_view line, std::string_view key);

std::string_view trimmed(std::string_view text);

}  // namespace podium
