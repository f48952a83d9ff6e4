#include "cli/curves/column.h"

#include <array>
#include <string>

namespace podium::cli {
namespace {

struct Name {
  std::string_view name;
  Column column;
};

constexpr std::array kNames{
    Name{"run", Column::run},         Name{"run_name", Column::run},    Name{"job", Column::job},
    Name{"metric", Column::metric},   Name{"tag", Column::metric},      Name{"key", Column::metric},
    Name{"step", Column::step},       Name{"_step", Column::step},      Name{"global_step", Column::step},
    Name{"iteration", Column::step},  Name{"time_ms", Column::time_ms}, Name{"time", Column::time},
    Name{"t", Column::time},          Name{"wall_time", Column::time},  Name{"timestamp", Column::time},
    Name{"_timestamp", Column::time}, Name{"value", Column::value}};

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

}  // namespace

Column column_of(std::string_view name) {
  const std::string text = plain(name);
  for (const Name& each : kNames)
    if (each.name == text) return each.column;
  return Column::metric_value;
}

}  // namespace podium::cli
