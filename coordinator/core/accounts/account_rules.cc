#include "coordinator/core/accounts/account_rules.h"

namespace podium {
namespace {

constexpr int kLargestShare = 1'000'000;
constexpr int kLargestQuota = 1'000'000'000;
constexpr std::size_t kMostAccounts = 10'000;

using Changes = std::map<std::string, std::optional<int>>;

void check_devices(const Changes& changes, const std::string& where, Errors& errors) {
  for (const auto& [kind, devices] : changes)
    if (kind.empty() || (devices && (*devices < 0 || *devices > kLargestQuota)))
      errors.push_back(
          {ErrorCode::invalid,
           "a " + where + " is a number of devices of a kind, from 0 to " + std::to_string(kLargestQuota),
           "/" + where + "/" + kind});
}

void apply_changes(std::map<std::string, int>& devices, const Changes& changes) {
  for (const auto& [kind, number] : changes) {
    devices.erase(kind);
    if (number) devices.emplace(kind, *number);
  }
}

std::string devices_text(int number, const std::string& kind) {
  return std::to_string(number) + " " + kind + (number == 1 ? " device" : " devices");
}

// A kind that no node has and no spec can ask for is a typing error. Removing its quota or limit is no
// mistake.
void check_kinds(const ClusterState& state, const Changes& changes, const std::string& where,
                 Errors& errors) {
  for (const auto& [kind, devices] : changes)
    if (devices && !kind.empty() && kind != "cpu" && kind != "gpu" &&
        !state.indexes.pools.contains({kind, {}}))
      errors.push_back({ErrorCode::invalid, "there is no kind of device \"" + kind + "\"; it is cpu or gpu",
                        "/" + where + "/" + kind});
}

// The lowest limit at or above the account, with `rules` in place of its own.
std::optional<std::pair<std::string, int>> lowest_limit(const ClusterState& state, const std::string& account,
                                                        const AccountRules& rules, const std::string& kind) {
  std::optional<std::pair<std::string, int>> lowest;
  for (const std::string& name : lineage(account)) {
    const auto& limits = (name == account ? rules : rules_of(state, name)).limit;
    const auto limit = limits.find(kind);
    if (limit != limits.end() && (!lowest || limit->second < lowest->second)) lowest = {name, limit->second};
  }
  return lowest;
}

// A quota above a limit promises devices that the account cannot get. The command is only refused for what it
// changes.
void check_quotas(const ClusterState& state, const ChangeAccount& command, const AccountRules& rules,
                  Errors& errors) {
  for (const auto& [kind, quota] : rules.quota) {
    if (!command.quota.contains(kind) && !command.limit.contains(kind)) continue;
    const auto limit = lowest_limit(state, command.account, rules, kind);
    if (limit && quota > limit->second)
      errors.push_back({ErrorCode::invalid,
                        "a quota of " + devices_text(quota, kind) + " is beyond the limit of " +
                            std::to_string(limit->second) + " of account " + limit->first +
                            "; raise that first, or guarantee less",
                        "/quota/" + kind});
  }
}

std::optional<Error> cannot_make(const ClusterState& state, const std::string& account) {
  if (account_exists(state, account)) return std::nullopt;
  if (state.accounts.size() >= kMostAccounts)
    return Error{ErrorCode::invalid,
                 "there are " + std::to_string(kMostAccounts) +
                     " accounts already; delete some: podium accounts delete NAME",
                 "/account"};
  for (const std::string& above : lineage(account))
    if (above != account && !account_exists(state, above))
      return Error{ErrorCode::invalid,
                   "account " + above +
                       ", which is above it, does not exist; make it first: podium accounts set " + above,
                   "/account"};
  return std::nullopt;
}

// What needs the account; "" where nothing does.
std::string user_of(const ClusterState& state, const std::string& account) {
  for (const auto& [id, job] : state.jobs)
    if (is_at_or_below(job.request.account, account))
      return "job " + to_string(id) + " of it has not ended; wait for its jobs or cancel them";
  for (const auto& [name, known] : state.accounts)
    if (name != account && is_at_or_below(name, account))
      return "account " + name + " is below it; delete that first";
  for (const NodeId& id : state.indexes.windows)
    if (const auto& kept = state.nodes.at(id).reservation; kept && is_at_or_below(kept->account, account))
      return "node " + id.value + " is reserved for it; podium nodes unreserve " + id.value;
  return "";
}

}  // namespace

Result<Events> change_account(const ClusterState& state, const ChangeAccount& command, Time now) {
  Errors errors;
  if (const auto bad = bad_account_name(command.account))
    errors.push_back({ErrorCode::invalid, *bad, "/account"});
  else if (const auto cannot = cannot_make(state, command.account))
    errors.push_back(*cannot);
  if (command.share && (*command.share < 1 || *command.share > kLargestShare))
    errors.push_back({ErrorCode::invalid, "a share is from 1 to " + std::to_string(kLargestShare), "/share"});
  check_devices(command.quota, "quota", errors);
  check_devices(command.limit, "limit", errors);
  check_kinds(state, command.quota, "quota", errors);
  check_kinds(state, command.limit, "limit", errors);
  if (!errors.empty()) return errors;
  AccountRules rules = rules_of(state, command.account);
  if (command.share) rules.share = *command.share;
  apply_changes(rules.quota, command.quota);
  apply_changes(rules.limit, command.limit);
  check_quotas(state, command, rules, errors);
  if (!errors.empty()) return errors;
  if (account_exists(state, command.account) && rules == rules_of(state, command.account)) return Events{};
  return Events{{now, AccountChanged{command.account, rules}}};
}

Result<Events> delete_account(const ClusterState& state, const std::string& account, Time now) {
  if (account == kDefaultAccount)
    return Error{ErrorCode::conflict, "account default stays: jobs that name none run for it", ""};
  if (!state.accounts.contains(account))
    return Error{ErrorCode::not_found, "there is no account " + account.substr(0, 200), ""};
  if (const std::string user = user_of(state, account); !user.empty())
    return Error{ErrorCode::conflict, "account " + account + " cannot be deleted: " + user, ""};
  return Events{{now, AccountDeleted{account}}};
}

Error no_such_account(const std::string& account, const std::string& where) {
  return {ErrorCode::invalid,
          "there is no account " + account + "; an operator makes it: podium accounts set " + account, where};
}

std::vector<std::string> account_warnings(const ClusterState& state, const std::string& account) {
  std::vector<std::string> warnings;
  const AccountRules& own = rules_of(state, account);
  for (const auto& [kind, quota] : own.quota) {
    const auto pool = state.indexes.pools.find({kind, {}});
    const std::int64_t there = pool == state.indexes.pools.end() ? 0 : pool->second.capacity.total();
    if (quota > there)
      warnings.push_back("account " + account + " is guaranteed " + devices_text(quota, kind) +
                         ", and the cluster has " + std::to_string(there));
  }
  for (const auto& [name, below] : state.accounts) {
    if (!is_at_or_below(name, account)) continue;
    for (const auto& [kind, quota] : below.rules.quota)
      if (const auto limit = lowest_limit(state, name, below.rules, kind); limit && quota > limit->second)
        warnings.push_back("account " + name + " is guaranteed " + devices_text(quota, kind) +
                           ", and account " + limit->first + " may hold at most " +
                           std::to_string(limit->second));
    for (const auto& [kind, own_limit] : below.rules.limit)
      if (const auto limit = lowest_limit(state, name, below.rules, kind); limit->second < own_limit)
        warnings.push_back("account " + name + " may hold " + devices_text(own_limit, kind) +
                           ", but account " + limit->first + ", which is above it, at most " +
                           std::to_string(limit->second));
  }
  return warnings;
}

Events missing_accounts(const ClusterState& state, const std::string& account, Time now) {
  Events events;
  for (const std::string& name : lineage(account))
    if (!account_exists(state, name)) events.push_back({now, AccountChanged{name, {}}});
  return events;
}

}  // namespace podium
