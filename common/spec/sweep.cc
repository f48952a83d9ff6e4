#include "common/spec/sweep.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "common/spec/explain.h"
#include "common/spec/parameter.h"
#include "common/spec/schema.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::array kOptions = {"asha", "seed", "trials"};
constexpr std::int64_t kStandardSeed = 1;
constexpr int kMostDraws = 1000;  // for one trial that is like no other

bool is_option(const std::string& key) { return std::ranges::find(kOptions, key) != kOptions.end(); }

std::string pointer_in_sweep(const std::string& path) { return "/sweep/" + pointer_step(path); }

// Whether the parameter takes whole numbers only.
bool takes_integers(const std::string& path) {
  const json* schema = schema_of(json::json_pointer(pointer_of(path)));
  if (!schema) return false;
  const json& type = resolved(*schema).at("type");
  const auto takes = [&type](const char* name) {
    return type.is_array() ? std::ranges::find(type, name) != type.end() : type == name;
  };
  return takes("integer") && !takes("number");
}

bool is_integer_range(const std::string& path, const json& range) {
  const json written = range.value("integer", json());
  return written.is_boolean() ? written.get<bool>() : takes_integers(path);
}

// Draws the same bits from a seed on every machine; the standard library's distributions do not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  json of(const std::string& path, const json& values) {
    if (values.is_array()) return values[below(values.size())];
    const double from = values.at("from"), to = values.at("to");
    const bool log = values.value("scale", "linear") == "log";
    if (!is_integer_range(path, values))
      return rounded(log ? between_logs(from, to) : from + unit() * (to - from), from, to);
    const double whole = log ? between_logs(from - 0.5, to + 0.5) : from - 0.5 + unit() * (to - from + 1);
    return static_cast<std::int64_t>(std::clamp(std::round(whole), std::ceil(from), std::floor(to)));
  }

 private:
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // in [0, 1)
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(unit() * static_cast<double>(bound));
  }
  double between_logs(double from, double to) {
    return std::exp(std::log(from) + unit() * (std::log(to) - std::log(from)));
  }

  // Rounds to four digits: that is enough, reads well, and hides the last bit, in which libraries differ.
  static double rounded(double value, double from, double to) {
    return std::clamp(std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr), from, to);
  }

  std::mt19937_64 engine_;
};

// How many combinations lists and ranges of whole numbers have, at most `most`.
std::size_t combinations(const json& sweep, std::size_t most) {
  std::size_t count = 1;
  for (const std::string& path : swept_paths(sweep)) {
    const json& values = sweep.at(path);
    double here = static_cast<double>(most);
    if (values.is_array()) here = static_cast<double>(std::max<std::size_t>(values.size(), 1));
    if (values.is_object() && is_integer_range(path, values))
      here = std::floor(values.at("to").get<double>()) - std::ceil(values.at("from").get<double>()) + 1;
    count = static_cast<std::size_t>(std::min(static_cast<double>(count) * here, static_cast<double>(most)));
  }
  return count;
}

std::vector<SweptValues> grid(const json& sweep) {
  std::vector<SweptValues> trials{{}};
  for (const std::string& path : swept_paths(sweep)) {
    std::vector<SweptValues> longer;
    for (const SweptValues& trial : trials)
      for (std::size_t i = 0; i < sweep.at(path).size(); ++i) {
        longer.push_back(trial);
        longer.back().push_back({sweep.at(path)[i], pointer_in_sweep(path) + "/" + std::to_string(i)});
      }
    trials = std::move(longer);
  }
  return trials;
}

bool takes(const std::string& path, const json& value) {
  const SourceMap nowhere;
  Problems problems("", nowhere);
  json trial;
  trial[json::json_pointer(pointer_of(path))] = value;
  explain(trial, pointer_of(path), problems);
  return problems.empty();
}

void check_values(const std::string& path, const json& values, Problems& problems) {
  json trial;  // only the path: explain() looks at nothing else
  const auto check = [&](const json& value, const std::string& written_at) {
    trial[json::json_pointer(pointer_of(path))] = value;
    problems.turn_to_job("", {{pointer_of(path), written_at}});
    explain(trial, pointer_of(path), problems);
  };
  const std::string at = pointer_in_sweep(path);
  if (values.is_array())
    for (std::size_t i = 0; i < values.size(); ++i) check(values[i], at + "/" + std::to_string(i));
  if (values.is_object())
    for (const char* end : {"from", "to"})
      if (values.contains(end) && values[end].is_number()) check(values[end], at + "/" + end);
  problems.turn_to_job("", {});
}

void check_range(const std::string& path, const json& range, bool random, Problems& problems) {
  const std::string at = pointer_in_sweep(path);
  if (!random)
    problems.add_key(
        at, fmt::format("sweep.{} is a range, from which values are drawn at random; say how many with "
                        "\"trials: 16\" in sweep, or list the values",
                        path));
  const json from = range.value("from", json()), to = range.value("to", json());
  if (!from.is_number() || !to.is_number()) return;
  if (from >= to)
    problems.add(at + "/to",
                 fmt::format("sweep.{}.to ({}) must be above from ({})", path, to.dump(), from.dump()));
  for (const auto& [end, value] : {std::pair("from", from), std::pair("to", to)})
    if (is_integer_range(path, range) && !value.is_number_integer())
      problems.add(at + "/" + end,
                   fmt::format("sweep.{}.{} must be a whole number, not {}", path, end, value.dump()));
  if (range.value("scale", json()) == "log" && from <= 0)
    problems.add(at + "/from",
                 fmt::format("sweep.{}.from must be above 0 on a log scale, not {}", path, from.dump()));
}

bool is_sound(const json& sweep) {
  return std::ranges::all_of(swept_paths(sweep), [&sweep](const std::string& path) {
    const json& values = sweep.at(path);
    if (!is_parameter(path)) return false;
    if (values.is_array()) return true;
    const json from = values.is_object() ? values.value("from", json()) : json();
    const json to = values.is_object() ? values.value("to", json()) : json();
    return from.is_number() && to.is_number() && from < to;
  });
}

void check_options(const json& sweep, Problems& problems) {
  if (swept_paths(sweep).empty() && !sweep.empty())
    problems.add_key("/sweep",
                     "sweep varies nothing; name a parameter, as in training.optimizer.lr: [1e-3, 6e-3]");
  if (sweep.contains("seed") && !sweep.contains("trials"))
    problems.add_key(
        "/sweep/seed",
        "sweep.seed is for values drawn at random; say how many with \"trials: 16\", or remove it");
  const json trials = sweep.value("trials", json());
  if (!trials.is_number_integer() || trials < 1 || !is_sound(sweep)) return;
  const std::size_t most = trials.get<std::size_t>();
  if (const std::size_t all = combinations(sweep, most + 1); all < most)
    problems.add(
        "/sweep/trials",
        fmt::format("sweep.trials ({}) is more than there are: the sweep's values have {} combination{}",
                    most, all, all == 1 ? "" : "s"));
}

}  // namespace

std::vector<std::string> swept_paths(const json& sweep) {
  std::vector<std::string> paths;
  for (const auto& [key, values] : sweep.items())
    if (!is_option(key)) paths.push_back(key);
  return paths;
}

std::size_t count_of_sweep(const json& document, std::size_t most) {
  if (!document.contains("sweep") || !document["sweep"].is_object()) return 1;
  const json& sweep = document["sweep"];
  if (const json trials = sweep.value("trials", json()); trials.is_number_integer())
    return trials <= 0 ? 1 : trials > most ? most : trials.get<std::size_t>();
  std::size_t count = 1;
  for (const std::string& path : swept_paths(sweep))
    if (sweep[path].is_array() && !sweep[path].empty()) count = std::min(count * sweep[path].size(), most);
  return count;
}

void fill_from_sweep(json& document) {
  if (!document.contains("sweep") || !document["sweep"].is_object()) return;
  const json sweep = document["sweep"];
  for (const std::string& path : swept_paths(sweep)) {
    const json& values = sweep[path];
    if (!is_parameter(path) || document.contains(json::json_pointer(pointer_of(path)))) continue;
    if (values.is_array() && !values.empty()) set_parameter(document, path, values.front());
    for (const char* end : {"from", "to"})
      if (values.is_object() && values.contains(end) && takes(path, values[end])) {
        set_parameter(document, path, values[end]);
        break;
      }
  }
}

void check_sweep(const json& document, Problems& problems) {
  if (!document.contains("sweep") || !document["sweep"].is_object()) return;
  const json& sweep = document["sweep"];
  for (const std::string& path : swept_paths(sweep)) {
    if (!is_parameter(path)) {
      const auto option = closest(path, std::vector<std::string>(kOptions.begin(), kOptions.end()));
      problems.add_key(pointer_in_sweep(path), fmt::format("sweep cannot vary \"{}\"{}", path,
                                                           option ? "; did you mean \"" + *option + "\"?"
                                                                  : why_no_parameter(path, document)));
      continue;
    }
    check_values(path, sweep[path], problems);
    if (sweep[path].is_object()) check_range(path, sweep[path], sweep.contains("trials"), problems);
  }
  check_options(sweep, problems);
}

void fill_sweep(json& sweep) {
  if (sweep.contains("trials") && !sweep.contains("seed")) sweep["seed"] = kStandardSeed;
  for (const std::string& path : swept_paths(sweep))
    if (sweep[path].is_object() && !sweep[path].contains("scale")) sweep[path]["scale"] = "linear";
}

std::vector<SweptValues> trials_of(const json& sweep) {
  if (!sweep.contains("trials")) return grid(sweep);
  Draw draw(static_cast<std::uint64_t>(sweep.value("seed", kStandardSeed)));
  const std::vector<std::string> paths = swept_paths(sweep);
  std::vector<SweptValues> trials;
  std::set<json> drawn;
  while (trials.size() < sweep.at("trials").get<std::size_t>()) {
    SweptValues trial;
    json values;
    for (int draws = 0; draws < kMostDraws && (values.is_null() || drawn.contains(values)); ++draws) {
      trial.clear();
      values = json::array();
      for (const std::string& path : paths) {
        trial.push_back({draw.of(path, sweep.at(path)), pointer_in_sweep(path)});
        values.push_back(trial.back().value);
      }
    }
    drawn.insert(values);
    trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace podium
