#include "coordinator/core/state/account.h"

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

constexpr std::size_t kLongestName = 100;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::vector<std::string> lineage(const std::string& account) {
  std::vector<std::string> path;
  for (std::size_t slash = account.find('/'); slash != std::string::npos;
       slash = account.find('/', slash + 1))
    path.push_back(account.substr(0, slash));
  path.push_back(account);
  return path;
}

std::string parent_of(const std::string& account) {
  const std::size_t slash = account.rfind('/');
  return slash == std::string::npos ? "" : account.substr(0, slash);
}

int depth_of(const std::string& account) { return static_cast<int>(std::ranges::count(account, '/')) + 1; }

bool is_at_or_below(const std::string& account, const std::string& above) {
  return account.starts_with(above) && (account.size() == above.size() || account[above.size()] == '/');
}

std::optional<std::string> bad_account_name(const std::string& name) {
  bool after_slash = true;
  bool good = name.size() <= kLongestName;
  for (const char c : name) {
    good = good && (c == '/' ? !after_slash : is_name_character(c));
    after_slash = c == '/';
  }
  if (good && !after_slash) return std::nullopt;
  return "an account is written as nlp or nlp/bert: letters, digits, '.', '_' and '-' between slashes, at "
         "most " +
         std::to_string(kLongestName) + " characters";
}

// The usage since `at` decays as well: ∫ devices · 2^(−t/half_life) dt over the time since.
double used(const Usage& usage, Duration half_life, Time now) {
  const double half = seconds_of(half_life);
  const double left = std::exp2(-std::max(seconds_of(now - usage.at), 0.0) / half);
  return usage.device_seconds * left + usage.devices * half / std::log(2.0) * (1 - left);
}

}  // namespace podium
