#include "coordinator/core/accounts/accounts.h"

#include <algorithm>
#include <cmath>

#include "coordinator/core/state/blocker.h"
#include "coordinator/core/state/state.h"

namespace podium {
namespace {

constexpr std::size_t kLongestName = 100;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

void change_devices(Usage& usage, int by, Duration half_life, Time at) {
  usage.device_seconds = used(usage, half_life, at);
  usage.devices += by;
  usage.at = at;
}

std::optional<int> of_kind(const std::map<std::string, int>& devices, const std::string& kind) {
  const auto found = devices.find(kind);
  return found == devices.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::vector<std::string> lineage(const std::string& account) {
  std::vector<std::string> path;
  for (std::size_t slash = account.find('/'); slash != std::string::npos;
       slash = account.find('/', slash + 1))
    path.push_back(account.substr(0, slash));
  path.push_back(account);
  return path;
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

bool account_exists(const ClusterState& state, const std::string& account) {
  return account == kDefaultAccount || state.accounts.contains(account);
}

const AccountRules& rules_of(const ClusterState& state, const std::string& account) {
  static const AccountRules standard;
  const auto found = state.accounts.find(account);
  return found == state.accounts.end() ? standard : found->second.rules;
}

// What it held since `at` has decayed as well: ∫ devices · 2^(−t/half_life) dt over the time since.
double used(const Usage& usage, Duration half_life, Time now) {
  const double half = seconds_of(half_life);
  const double left = std::exp2(-std::max(seconds_of(now - usage.at), 0.0) / half);
  return usage.device_seconds * left + usage.devices * half / std::log(2.0) * (1 - left);
}

void charge_account(ClusterState& state, const Job& job, int devices, Time at) {
  const Duration half_life = state.scheduling.half_life;
  for (const std::string& name : lineage(job.request.account))
    change_devices(state.accounts[name].usage[job.request.kind], devices, half_life, at);
  change_devices(state.accounts[job.request.account].own[job.request.kind], devices, half_life, at);
}

AccountLedger::AccountLedger(const ClusterState& state, std::string kind)
    : state_(state), kind_(std::move(kind)) {
  for (const auto& [name, account] : state.accounts) {
    quotas_ = quotas_ || account.rules.quota.contains(kind_);
    limits_ = limits_ || account.rules.limit.contains(kind_);
  }
}

int AccountLedger::held(const std::string& account) const {
  int devices = 0;
  if (const auto known = state_.accounts.find(account); known != state_.accounts.end())
    if (const auto usage = known->second.usage.find(kind_); usage != known->second.usage.end())
      devices = usage->second.devices;
  const auto change = changes_.find(account);
  return change == changes_.end() ? devices : devices + change->second;
}

void AccountLedger::change(const std::string& account, int devices) {
  for (const std::string& name : lineage(account)) changes_[name] += devices;
}

std::optional<Blocker> AccountLedger::over_limit(const std::string& account, int devices) const {
  if (!limits_) return std::nullopt;
  for (const std::string& name : lineage(account)) {
    const auto limit = of_kind(rules_of(state_, name).limit, kind_);
    const int would_hold = held(name) + devices;
    if (!limit || would_hold <= *limit) continue;
    Blocker blocker{.code = BlockerCode::limit, .needs = would_hold, .has = *limit};
    blocker.sentence = "account " + name + " would hold " + std::to_string(would_hold) + " " + kind_ +
                       " devices, and may hold " + std::to_string(*limit) + " at most";
    return blocker;
  }
  return std::nullopt;
}

std::optional<std::string> AccountLedger::guaranteed_by(const std::string& account, int devices) const {
  if (!quotas_) return std::nullopt;
  const std::vector<std::string> path = lineage(account);
  const auto covers = [&](const std::string& name) {
    const auto quota = of_kind(rules_of(state_, name).quota, kind_);
    return quota && held(name) + devices <= *quota;
  };
  const auto innermost = std::find_if(path.rbegin(), path.rend(), covers);
  return innermost == path.rend() ? std::nullopt : std::optional(*innermost);
}

std::optional<AccountLedger::Quota> AccountLedger::nearest_quota(const std::string& account) const {
  std::optional<Quota> nearest;
  for (const std::string& name : lineage(account))
    if (const auto quota = of_kind(rules_of(state_, name).quota, kind_)) nearest = Quota{name, *quota};
  return nearest;
}

std::set<int, std::greater<>> AccountLedger::quota_depths() const {
  std::set<int, std::greater<>> depths;
  for (const auto& [name, account] : state_.accounts)
    if (account.rules.quota.contains(kind_)) depths.insert(depth_of(name));
  return depths;
}

bool AccountLedger::may_take(const std::string& account, int devices, const JobRequest& taker) const {
  if (!quotas_) return true;
  const std::vector<std::string> path = lineage(account);
  const auto covers = [&](const std::string& name) {
    const auto quota = of_kind(rules_of(state_, name).quota, kind_);
    return quota && held(name) <= *quota;
  };
  const auto innermost = std::find_if(path.rbegin(), path.rend(), covers);
  if (innermost == path.rend()) return true;
  if (!is_at_or_below(taker.account, *innermost)) return false;
  // Of two that one quota covers the policy decides; one that a deeper quota covers goes first.
  if (held(*innermost) - devices + taker.devices <= *of_kind(rules_of(state_, *innermost).quota, kind_))
    return true;
  const auto guarantee = guaranteed_by(taker.account, taker.devices);
  return guarantee && depth_of(*guarantee) > depth_of(*innermost);
}

}  // namespace podium
