#include "common/console/console_reader.h"

#include <algorithm>
#include <iterator>

namespace podium {
namespace {

std::string parser_names() {
  std::string names;
  for (const NamedParser& parser : kNamedParsers)
    names += (names.empty() ? "" : ", ") + std::string(parser.name);
  return names;
}

constexpr char kEscape = '\x1b';

// Without terminals' "\x1b[32m" and the like.
std::string without_colours(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] != kEscape) {
      out += line[at++];
    } else if (++at < line.size() && line[at] == '[') {
      at = line.find_first_not_of("0123456789;?", at + 1);
      at = at == std::string_view::npos ? line.size() : at + 1;
    }
  }
  return out;
}

bool is_printable(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void merge(ConsoleLine told, ConsoleLine& out) {
  if (told.step) out.step = told.step;
  std::ranges::move(told.values, std::back_inserter(out.values));
}

}  // namespace

Result<ConsoleReader> ConsoleReader::make(const std::vector<std::string>& parsers,
                                          const std::vector<std::string>& regex) {
  ConsoleReader reader;
  Errors errors;
  for (std::size_t i = 0; i < parsers.size(); ++i) {
    const auto known = std::ranges::find(kNamedParsers, parsers[i], &NamedParser::name);
    if (known != kNamedParsers.end())
      reader.parsers_.push_back(&*known);
    else
      errors.push_back({ErrorCode::invalid,
                        "there is no parser \"" + parsers[i] + "\"; there are " + parser_names(),
                        "/parsers/" + std::to_string(i)});
  }
  for (std::size_t i = 0; i < regex.size(); ++i) {
    auto pattern = ConsolePattern::compile(regex[i]);
    if (pattern) {
      reader.patterns_.push_back(std::move(pattern).value());
      continue;
    }
    Error error = pattern.errors().front();
    error.where = "/regex/" + std::to_string(i);
    errors.push_back(std::move(error));
  }
  if (!errors.empty()) return errors;
  return reader;
}

ConsoleLine ConsoleReader::read(std::string_view line, ConsoleMemory& memory) const {
  std::string uncoloured;
  if (line.find(kEscape) != std::string_view::npos) line = uncoloured = without_colours(line);
  ConsoleLine out;
  for (const NamedParser* parser : parsers_) merge(parser->parse(line, memory), out);
  for (const ConsolePattern& pattern : patterns_) merge(pattern.match(line), out);
  if (out.step) {
    memory.step = *out.step;
    memory.counts = false;
  }
  std::erase_if(out.values, [](const auto& entry) { return !is_printable(entry.first); });
  if (out.values.size() > kMostConsoleValues) out.values.resize(kMostConsoleValues);
  if (out.values.empty()) return {};
  if (!out.step) out.step = memory.counts ? ++memory.step : memory.step;
  return out;
}

}  // namespace podium
