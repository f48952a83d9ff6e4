#include "cli/published_text.h"

#include <spdlog/fmt/fmt.h>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {

using nlohmann::json;

std::string published_table(const json& rows, const Terminal& terminal) {
  Table table({{"BENCHMARK", false, true, 10, 2},
               {"WHAT", false, true, 12},
               {"HARDWARE", false, true, 12},
               {"DEVICES", true},
               {"PRECISION", false, false, 0, 3},
               {"BATCH", true, false, 0, 4},
               {"VALUE", true},
               {"UNIT"},
               {"SOURCE", false, true, 12},
               {"DATE"}});
  for (const json& row : rows)
    table.add({{text_field(row, "benchmark")},
               {text_field(row, "what")},
               {text_field(row, "hardware")},
               {human_count(integer_field(row, "devices"))},
               {text_field(row, "precision", "–")},
               {field(row, "batch").is_null() ? "–" : human_count(integer_field(row, "batch"))},
               {fmt::format("{:g}", number_field(row, "value"))},
               {text_field(row, "unit")},
               {text_field(row, "source"), Colour::dim},
               {text_field(row, "date")}});
  return table.render(terminal);
}

}  // namespace podium::cli
