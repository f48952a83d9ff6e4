#include "coordinator/core/accounts/fair_share_tree.h"

#include <algorithm>

#include "coordinator/core/state/state.h"

namespace podium {
namespace {

constexpr double kAhead = 3600;  // seconds

// The child that stands for the account's own jobs.
std::string own_leaf(const std::string& account) { return account + "/"; }
bool is_own_leaf(const std::string& name) { return name.ends_with('/'); }

// From the leaf up, without the top.
std::vector<std::string> way_up(const std::string& account) {
  std::vector<std::string> way = lineage(account);
  way.push_back(own_leaf(account));
  std::ranges::reverse(way);
  return way;
}

const Usage* usage_of(const ClusterState& state, const std::string& name, const std::string& kind) {
  const auto account = state.accounts.find(is_own_leaf(name) ? parent_of(name) : name);
  if (account == state.accounts.end()) return nullptr;
  const auto& usage = is_own_leaf(name) ? account->second.own : account->second.usage;
  const auto found = usage.find(kind);
  return found == usage.end() ? nullptr : &found->second;
}

int share_of(const ClusterState& state, const std::string& name) {
  return is_own_leaf(name) ? 1 : rules_of(state, name).share;
}

}  // namespace

double fair_share_factor(const ClusterState& state, const AccountLedger& ledger, const std::string& account,
                         Time now) {
  const Usage* usage = usage_of(state, account, ledger.kind());
  const double past = usage ? used(*usage, state.scheduling.half_life, now) : 0;
  const int devices = is_own_leaf(account) ? (usage ? usage->devices : 0) : ledger.allocated(account);
  return (past + devices * kAhead) / share_of(state, account);
}

std::optional<Precedence> behind_whom(const ClusterState& state, const AccountLedger& ledger,
                                      const std::string& account, const std::set<std::string>& waiting,
                                      Time now) {
  std::vector<std::string> down = way_up(account);
  std::ranges::reverse(down);
  for (const std::string& name : down) {
    Precedence precedence{name, name, fair_share_factor(state, ledger, name, now), 0};
    precedence.factor_ahead = precedence.factor;
    for (const std::string& other : waiting)
      for (const std::string& sibling : way_up(other)) {
        if (parent_of(sibling) != parent_of(name)) continue;
        const double factor = fair_share_factor(state, ledger, sibling, now);
        if (std::pair(factor, sibling) < std::pair(precedence.factor_ahead, precedence.ahead)) {
          precedence.ahead = sibling;
          precedence.factor_ahead = factor;
        }
      }
    if (precedence.ahead != name) return precedence;
  }
  return std::nullopt;
}

double FairShareTree::factor(const std::string& child) {
  const auto known = factors_.find(child);
  if (known != factors_.end()) return known->second;
  return factors_[child] = fair_share_factor(state_, ledger_, child, now_);
}

void FairShareTree::add(const std::string& account) {
  for (const std::string& name : way_up(account)) children_[parent_of(name)].insert({factor(name), name});
}

void FairShareTree::remove(const std::string& account) {
  for (const std::string& name : way_up(account)) {
    const auto siblings = children_.find(parent_of(name));
    siblings->second.erase({factor(name), name});
    if (!siblings->second.empty()) return;
    children_.erase(siblings);
  }
}

std::string FairShareTree::next() const {
  std::string name;
  while (!is_own_leaf(name)) name = children_.at(name).begin()->second;
  return parent_of(name);
}

void FairShareTree::charge(const std::string& account, int devices) {
  for (const std::string& name : way_up(account)) {
    const double before = factor(name);
    const double after = before + devices * kAhead / share_of(state_, name);
    factors_[name] = after;
    const auto siblings = children_.find(parent_of(name));
    if (siblings != children_.end() && siblings->second.erase({before, name}) > 0)
      siblings->second.insert({after, name});
  }
}

}  // namespace podium
