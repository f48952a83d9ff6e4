#include "coordinator/core/accounts/account_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/core/accounts/fair_share_tree.h"

namespace podium {
namespace {

void add_usage(const ClusterState& state, Time now, AccountReport& report) {
  std::map<std::string, AccountLedger> ledgers;  // each looks at all accounts once
  for (const auto& [name, account] : state.accounts) {
    for (const std::string& above : lineage(name)) report[above];
    for (const auto& [kind, usage] : account.usage) {
      const AccountLedger& ledger = ledgers.try_emplace(kind, state, kind).first->second;
      AccountFigures& figures = report[name][kind];
      figures.devices = usage.devices;
      figures.device_seconds = used(usage, state.scheduling.half_life, now);
      figures.factor = fair_share_factor(state, ledger, name, now);
    }
  }
}

void add_waiting(const ClusterState& state, AccountReport& report) {
  for (const auto& [kind, queue] : state.indexes.queues)
    for (const auto& [line, jobs] : queue)
      for (const std::string& account : lineage(line.account)) {
        AccountFigures& figures = report[account][kind];
        figures.waiting_jobs += std::ssize(jobs);
        figures.waiting_devices += std::ssize(jobs) * line.shape.devices;
      }
}

// Counts the borrowed devices. Devices that an account's own quota, its children's quotas or the quota of an
// account above covers are not borrowed; the rest is. Where no quota of the kind exists, nothing is borrowed.
void add_borrowed(const ClusterState& state, const std::string& kind, AccountReport& report) {
  std::map<std::string, int> kept;
  bool lent = false;
  for (auto account = report.rbegin(); account != report.rend(); ++account) {  // children before parents
    const auto& quotas = rules_of(state, account->first).quota;
    const auto quota = quotas.find(kind);
    lent |= quota != quotas.end();
    const auto figures = account->second.find(kind);
    if (figures == account->second.end()) continue;
    int& own = kept[account->first];
    if (quota != quotas.end()) own = std::max(own, std::min(figures->second.devices, quota->second));
    kept[parent_of(account->first)] += own;
  }
  if (!lent) return;
  for (auto& [name, by_kind] : report) {
    const auto figures = by_kind.find(kind);
    if (figures == by_kind.end()) continue;
    figures->second.borrowed = figures->second.devices - kept.at(name);
    const auto above = report.find(parent_of(name));
    if (above != report.end())
      figures->second.borrowed = std::min(figures->second.borrowed, above->second.at(kind).borrowed);
  }
}

}  // namespace

AccountReport report_accounts(const ClusterState& state, Time now) {
  AccountReport report;
  add_usage(state, now, report);
  add_waiting(state, report);
  std::set<std::string> kinds;
  for (const auto& [name, by_kind] : report)
    for (const auto& [kind, figures] : by_kind) kinds.insert(kind);
  for (const std::string& kind : kinds) add_borrowed(state, kind, report);
  return report;
}

}  // namespace podium
