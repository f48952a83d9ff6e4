#include "common/console/console_pattern.h"

#include <re2/re2.h>

#include "common/base/text.h"

namespace podium {
namespace {

constexpr std::int64_t kMostMemory = 1 << 20;  // of a compiled expression and of its search
// The time for a byte grows with it where a search needs more memory than that.
constexpr int kMostInstructions = 500;

// By bytes: what programs print need not be UTF-8, and text of the expression matches the same bytes.
RE2::Options options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  return options;
}

Error mistake(const std::string& expression, const std::string& what) {
  return {ErrorCode::invalid, "the regular expression \"" + expression + "\" " + what, ""};
}

}  // namespace

std::string metric_of_group(std::string_view group) {
  std::string metric(group);
  for (std::size_t at = 0; (at = metric.find("__", at)) != std::string::npos;) metric.replace(at, 2, "/");
  return metric;
}

Result<ConsolePattern> ConsolePattern::compile(const std::string& expression) {
  if (expression.size() > kLongestPattern)
    return mistake(cut_text(expression, 40), "has more than 1000 bytes");
  ConsolePattern pattern;
  const auto compiled = std::make_shared<const RE2>(expression, options());
  if (expression.find("(?<") != std::string::npos && !compiled->ok())
    return mistake(expression, "is none of RE2's; a named group reads (?P<loss>[0-9.]+)");
  if (!compiled->ok())
    return mistake(expression,
                   "is none of RE2's (https://github.com/google/re2/wiki/Syntax): " + compiled->error());
  if (compiled->ProgramSize() > kMostInstructions)
    return mistake(expression, "is too large; write fewer or smaller repetitions such as {100}");
  for (const auto& [index, name] : compiled->CapturingGroupNames())
    pattern.groups_.push_back({index, name == "step" ? "" : metric_of_group(name)});
  for (const Group& group : pattern.groups_)
    if (group.metric.starts_with('/') || group.metric.ends_with('/'))
      return mistake(expression,
                     "has a group that begins or ends with __, which stands for the / within a name");
  if (pattern.groups_.empty())
    return mistake(expression, "names no metric; write (?P<loss>[0-9.]+) around its number");
  pattern.expression_ = compiled;
  return pattern;
}

ConsoleLine ConsolePattern::match(std::string_view line) const {
  ConsoleLine out;
  const re2::StringPiece text(line.data(), line.size());
  const int count = expression_->NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(count));
  if (!expression_->Match(text, 0, text.size(), RE2::UNANCHORED, parts.data(), count)) return out;
  for (const Group& group : groups_) {
    const re2::StringPiece part = parts[static_cast<std::size_t>(group.index)];
    if (part.data() == nullptr) continue;  // of an alternative that did not match
    const std::string_view captured(part.data(), part.size());
    if (group.metric.empty()) {
      out.step = console_count(captured);
      if (!out.step) return {};  // its values are of no step that is known
    } else if (const auto value = console_number(captured)) {
      out.values.emplace_back(group.metric, *value);
    }
  }
  return out;
}

}  // namespace podium
