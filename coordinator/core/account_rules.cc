#include "coordinator/core/account_rules.h"

namespace podium {
namespace {

constexpr int kLargestShare = 1'000'000;
constexpr int kMostDevices = 1'000'000'000;

using Changes = std::map<std::string, std::optional<int>>;

void check_devices(const Changes& changes, const std::string& where, Errors& errors) {
  for (const auto& [kind, devices] : changes)
    if (kind.empty() || (devices && (*devices < 0 || *devices > kMostDevices)))
      errors.push_back(
          {ErrorCode::invalid,
           "a " + where + " is a number of devices of a kind, from 0 to " + std::to_string(kMostDevices),
           "/" + where + "/" + kind});
}

void change(std::map<std::string, int>& devices, const Changes& changes) {
  for (const auto& [kind, number] : changes) {
    devices.erase(kind);
    if (number) devices.emplace(kind, *number);
  }
}

}  // namespace

Result<Events> change_account(const ClusterState& state, const ChangeAccount& command, Time now) {
  Errors errors;
  if (const auto bad = bad_account_name(command.account))
    errors.push_back({ErrorCode::invalid, *bad, "/account"});
  if (command.share && (*command.share < 1 || *command.share > kLargestShare))
    errors.push_back({ErrorCode::invalid, "a share is from 1 to " + std::to_string(kLargestShare), "/share"});
  check_devices(command.quota, "quota", errors);
  check_devices(command.limit, "limit", errors);
  if (!errors.empty()) return errors;
  AccountRules rules = rules_of(state, command.account);
  if (command.share) rules.share = *command.share;
  change(rules.quota, command.quota);
  change(rules.limit, command.limit);
  if (rules == rules_of(state, command.account)) return Events{};
  return Events{{now, AccountChanged{command.account, rules}}};
}

}  // namespace podium
