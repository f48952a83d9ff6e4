#include "coordinator/tracking/cost.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace podium {
namespace {

bool same_text(const std::string& a, const std::string& b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string name_of(const std::string& kind, const std::string& model) {
  return model.empty() ? kind : kind + " " + model;
}

std::string models_text(const std::vector<std::string>& models) {
  std::string text;
  for (const std::string& model : models) text += (text.empty() ? "" : " or ") + model;
  return text;
}

// The price of devices of which each may be of any of the models. Nothing where the models differ in price:
// nobody knows which each is.
const Price* price_of_any(const Prices& prices, const HeldDevices& held) {
  if (held.models.empty()) return price_of(prices, held.kind, "");
  const Price* price = price_of(prices, held.kind, held.models.front());
  for (const std::string& model : held.models)
    if (const Price* other = price_of(prices, held.kind, model);
        !price || !other || other->per_device_hour != price->per_device_hour)
      return nullptr;
  return price;
}

std::map<int, Duration> held_for(const std::vector<LedgerPiece>& pieces, std::optional<Time> until) {
  std::map<int, Duration> attempts;
  for (const LedgerPiece& piece : pieces) {
    if (is_held(piece.kind))
      attempts[piece.attempt] += std::clamp(until.value_or(piece.to), piece.from, piece.to) - piece.from;
  }
  return attempts;
}

}  // namespace

Result<Price> parse_price(const std::string& text) {
  const auto equals = text.rfind('=');
  const std::string device = text.substr(0, equals);
  const auto slash = device.find('/');
  Price price{device.substr(0, slash), slash == std::string::npos ? "" : device.substr(slash + 1)};
  bool good = equals != std::string::npos && (price.kind == "gpu" || price.kind == "cpu") &&
              (slash == std::string::npos || !price.model.empty());
  if (good) {
    const char *first = text.data() + equals + 1, *last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, price.per_device_hour);
    good = error == std::errc{} && end == last && std::isfinite(price.per_device_hour) &&
           price.per_device_hour >= 0;
  }
  if (good) return price;
  return Error{
      ErrorCode::invalid,
      "\"" + text +
          "\" is not a price; write KIND=AMOUNT or KIND/MODEL=AMOUNT for a device-hour, like gpu=2.50 "
          "or \"gpu/NVIDIA H200=4.10\"; the kinds are gpu and cpu",
      ""};
}

bool of_same_devices(const Price& a, const Price& b) {
  return a.kind == b.kind && same_text(a.model, b.model);
}

const Price* price_of(const Prices& prices, const std::string& kind, const std::string& model) {
  const Price* of_kind = nullptr;
  for (const Price& price : prices.list) {
    if (price.kind != kind) continue;
    if (price.model.empty()) of_kind = &price;
    if (!price.model.empty() && same_text(price.model, model)) return &price;
  }
  return of_kind;
}

Cost cost_of(const std::vector<LedgerPiece>& pieces, const std::vector<HeldDevices>& held,
             const Prices& prices, std::optional<Time> until) {
  std::map<std::pair<std::string, std::string>, CostPart> parts;
  std::set<std::string> unpriced;
  const std::map<int, Duration> attempts = held_for(pieces, until);
  for (const HeldDevices& devices : held) {
    const auto attempt = attempts.find(devices.attempt);
    if (attempt == attempts.end() || attempt->second <= Duration{0}) continue;
    const Price* price = price_of_any(prices, devices);
    const std::string models = models_text(devices.models);
    if (!price) {
      unpriced.insert(name_of(devices.kind, models));
      continue;
    }
    CostPart& part = parts.try_emplace({devices.kind, models}, CostPart{devices.kind, models}).first->second;
    part.per_device_hour = price->per_device_hour;
    part.device_hours +=
        std::chrono::duration<double, std::ratio<3600>>(attempt->second).count() * devices.devices;
  }
  Cost cost;
  double amount = 0;
  for (auto& [key, part] : parts) {
    amount += part.per_device_hour * part.device_hours;
    cost.parts.push_back(std::move(part));
  }
  cost.unpriced.assign(unpriced.begin(), unpriced.end());
  if (cost.unpriced.empty()) cost.amount = amount;
  return cost;
}

}  // namespace podium
