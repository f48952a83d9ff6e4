#include "cli/determined/hyperparameters.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "common/model/program.h"
#include "common/spec/source_map.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostParameters =
    90;  // of the 100 of a spec; the others are lengths, the seed and the like
constexpr std::size_t kLongestParameter = 63;
constexpr double kMostInteger = 9e15;  // of those that a double holds
constexpr std::int64_t kMostGridValues = 1000;

// 10^-5 without the last digits that a power leaves.
double tidy(double value) { return std::strtod(fmt::format("{:.12g}", value).c_str(), nullptr); }

std::optional<double> number(const json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

class Collector {
 public:
  explicit Collector(DeterminedExperiment& experiment) : experiment_(experiment) {}

  void add_all(const json& mapping, const std::string& pointer, const std::string& above) {
    for (const auto& [key, value] : mapping.items())
      add(value, pointer + "/" + pointer_step(key), above.empty() ? key : above + "_" + key);
  }
  std::vector<Hyperparameter> take() { return std::move(found_); }

 private:
  void add(const json& value, const std::string& pointer, const std::string& name) {
    const std::string type = value.is_object() && value.contains("type") && value["type"].is_string()
                                 ? value["type"].get<std::string>()
                                 : "";
    if (type == "const" && value.contains("val")) return add_constant(value["val"], pointer, name);
    if (type == "categorical") return add_categorical(value, pointer, name);
    if (type == "int" || type == "double" || type == "log") return add_range(value, type, pointer, name);
    if (type == "object" && value.contains("vals") && value["vals"].is_object())
      return add_all(value["vals"], pointer + "/vals", name);
    if (value.is_object() && !value.empty()) return add_all(value, pointer, name);
    add_constant(value, pointer, name);
  }

  void add_constant(const json& value, const std::string& pointer, const std::string& name) {
    if (value.is_null()) return experiment_.left(pointer, "has no value, and a parameter needs one");
    Hyperparameter parameter{pointer, name, plain_value(value)};
    if (value.is_structured())
      experiment_.changed(pointer, "parameters are numbers, text and booleans: it is there as JSON text");
    keep(std::move(parameter));
  }

  void add_categorical(const json& value, const std::string& pointer, const std::string& name) {
    json values = json::array();
    for (const json& each : value.value("vals", json::array())) {
      const json plain = each.is_null() ? json("null") : plain_value(each);
      if (each.is_structured() || each.is_null())
        experiment_.changed(pointer, fmt::format("{} is there as JSON text", each.dump()));
      if (std::ranges::find(values, plain) == values.end()) values.push_back(plain);
    }
    if (values.empty()) return experiment_.left(pointer, "names no values (vals)");
    Hyperparameter parameter{pointer, name, nullptr};
    if (values.size() == 1)
      parameter.value = values[0];
    else
      parameter.grid = parameter.values = std::move(values);
    keep(std::move(parameter));
  }

  void add_range(const json& value, const std::string& type, const std::string& pointer,
                 const std::string& name) {
    const auto from = number(value, "minval"), to = number(value, "maxval");
    if (!from || !to || *from > *to)
      return experiment_.left(pointer, "needs numbers as minval and maxval, of which maxval is the larger");
    const double base = type == "log" ? number(value, "base").value_or(10) : 0;
    const auto at = [&](double place) {
      const double linear = *from + (*to - *from) * place;
      return type == "log" ? tidy(std::pow(base, linear)) : type == "int" ? std::round(linear) : tidy(linear);
    };
    const double most = type == "int" ? kMostInteger : std::numeric_limits<double>::max();
    if (!(std::abs(at(0)) <= most && std::abs(at(1)) <= most) || (type == "log" && at(0) <= 0))
      return experiment_.left(pointer, "has ends that are too large");
    const auto as_json = [&](double each) {
      return type == "int" ? json(static_cast<std::int64_t>(each)) : json(each);
    };
    Hyperparameter parameter{pointer, name, nullptr};
    if (at(0) >= at(1)) {
      parameter.value = as_json(at(0));
      return keep(std::move(parameter));
    }
    parameter.range = {{"from", as_json(at(0))}, {"to", as_json(at(1))}};
    if (type == "log") parameter.range["scale"] = "log";
    if (type == "int") parameter.range["integer"] = true;
    if (const auto count = number(value, "count"); count && *count >= 1 && *count <= kMostGridValues) {
      parameter.grid = json::array();
      const auto points = static_cast<std::int64_t>(*count);
      for (std::int64_t i = 0; i < points; ++i) {
        const json each =
            as_json(at(points == 1 ? 0 : static_cast<double>(i) / static_cast<double>(points - 1)));
        if (std::ranges::find(parameter.grid, each) == parameter.grid.end()) parameter.grid.push_back(each);
      }
    }
    keep(std::move(parameter));
  }

  void keep(Hyperparameter parameter) {
    const std::string written = parameter.name;
    std::string& name = parameter.name;
    std::ranges::replace_if(
        name,
        [](char c) {
          return !is_plain_name(std::string{'_', c});
        },
        '_');
    const bool taken = std::ranges::find(kRunPlaceholders, name) != kRunPlaceholders.end();
    if (taken || !is_plain_name(name)) name.insert(0, "hp_");
    if (found_.size() == kMostParameters || name.size() > kLongestParameter)
      return experiment_.left(
          parameter.pointer,
          fmt::format("a spec has at most {} of them, and names of at most {} letters; give it "
                      "to the program in a file",
                      kMostParameters, kLongestParameter));
    if (!variables_.insert(parameter_variable(name)).second)
      return experiment_.left(parameter.pointer,
                              fmt::format("another is named {} already; rename one of the two", name));
    const bool nested = std::ranges::count(parameter.pointer, '/') > 2;
    if (taken)
      experiment_.changed(parameter.pointer,
                          fmt::format("is the parameter {}: {{{}}} is Podium's own", name, name.substr(3)));
    else if (nested || name != written)
      experiment_.changed(
          parameter.pointer,
          fmt::format("is the parameter {}: names have letters, digits and _, and do not nest", name));
    found_.push_back(std::move(parameter));
  }

  DeterminedExperiment& experiment_;
  std::vector<Hyperparameter> found_;
  std::set<std::string> variables_;
};

}  // namespace

json plain_value(const json& value) { return value.is_structured() ? json(value.dump()) : value; }

std::vector<Hyperparameter> hyperparameters_of(DeterminedExperiment& experiment) {
  Collector collector(experiment);
  const json& all = experiment.at("/hyperparameters");
  if (all.is_object()) collector.add_all(all, "/hyperparameters", "");
  return collector.take();
}

}  // namespace podium::cli
