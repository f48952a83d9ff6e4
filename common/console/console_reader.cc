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
  ConsoleLine out;
  for (const NamedParser* parser : parsers_) merge(parser->parse(line, memory), out);
  for (const ConsolePattern& pattern : patterns_) merge(pattern.match(line), out);
  if (out.step) {
    memory.step = *out.step;
    memory.counts = false;
  }
  if (out.values.empty()) return {};
  if (!out.step) out.step = memory.counts ? ++memory.step : memory.step;
  return out;
}

}  // namespace podium
