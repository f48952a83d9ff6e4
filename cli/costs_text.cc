#include "cli/costs_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <string_view>

#include "cli/fields.h"
#include "cli/humanise.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr double kJoulesOfKwh = 3.6e6;

std::string rounded_percent(double fraction) {
  const double percents = 100 * fraction;
  return percents > 99 && percents < 100 ? "more than 99 %" : fmt::format("{:.0f} %", percents);
}

bool is_number(const json& of, const char* key) { return field(of, key).is_number(); }
double number(const json& of, const char* key) { return of.at(key).get<double>(); }

// What must be known of an energy of which a part is missing.
std::string coverage_text(const json& energy) {
  const double covered = number(energy, "covered"), shared = number(energy, "shared");
  std::string text;
  if (covered < 1) text = fmt::format(" (of {} of the device time)", rounded_percent(covered));
  if (shared > 0)
    text +=
        fmt::format("; for {} of it other jobs shared the processors, and the energy of each is not known",
                    rounded_percent(shared));
  return text;
}

}  // namespace

std::string human_joules(double joules) {
  if (joules < 1000) return human_value(joules) + " J";
  if (joules < kJoulesOfKwh) return human_value(joules / 1000) + " kJ";
  return human_value(joules / kJoulesOfKwh) + " kWh";
}

std::string human_amount(double amount, const std::string& currency) {
  const std::string text = amount == 0 || std::abs(amount) >= 0.995 ? fmt::format("{:.2f}", amount)
                                                                    : fmt::format("{:.2g}", amount);
  return currency.empty() ? text : text + " " + currency;
}

std::string energy_text(const json& ledger) {
  const json energy = field(ledger, "energy");
  if (!energy.is_object()) return "";
  if (!is_number(energy, "joules"))
    return fmt::format("not known: for {} of the device time other jobs shared the processors",
                       rounded_percent(number(energy, "shared")));
  std::string text = human_joules(number(energy, "joules")) + coverage_text(energy);
  if (is_number(energy, "joules_per_sample"))
    text += fmt::format("; {} a sample", human_joules(number(energy, "joules_per_sample")));
  if (is_number(energy, "joules_to_target"))
    text += fmt::format("; {} to the target", human_joules(number(energy, "joules_to_target")));
  return text;
}

std::string cost_text(const json& ledger) {
  const json cost = field(ledger, "cost");
  if (!cost.is_object()) return "";
  const std::string currency = text_field(cost, "currency");
  if (!is_number(cost, "amount")) {
    std::string unpriced;
    for (const json& device : cost.at("unpriced"))
      unpriced += (unpriced.empty() ? "" : ", ") + device.get<std::string>();
    return "not known: the coordinator has no --price for " + unpriced;
  }
  std::string text = human_amount(number(cost, "amount"), currency);
  if (is_number(cost, "to_target"))
    text += "; " + human_amount(number(cost, "to_target"), currency) + " to the target";
  return text;
}

std::string costs_text(const json& ledger) {
  const std::string energy = energy_text(ledger), cost = cost_text(ledger);
  std::string text;
  if (!energy.empty()) text += "\nenergy  " + energy + "\n";
  if (!cost.empty()) text += (energy.empty() ? "\n" : "") + ("cost    " + cost) + "\n";
  return text;
}

}  // namespace podium::cli
