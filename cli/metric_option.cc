#include "cli/metric_option.h"

namespace podium::cli {

void add_metric_patterns(CLI::App& command, std::vector<std::string>& patterns) {
  command
      .add_option("--metric", patterns,
                  "Only metrics of this name; * and ? stand for others. May be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace podium::cli
