// The order of accounts under fair share against Slurm's Fair Tree, as its documentation states it
// (https://slurm.schedmd.com/fair_tree.html).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "coordinator/core/accounts/fair_share_tree.h"
#include "coordinator/core/state/state.h"

namespace podium {
namespace {

const Time kNow = from_millis(1'700'000'000'000);

// Accounts with shares and usage; what a leaf used is used by everything above it as well.
class Tree {
 public:
  void share(const std::string& account, int value) { state_.accounts[account].rules.share = value; }

  void use(const std::string& leaf, double device_seconds) {
    leaves_.push_back(leaf);
    for (const std::string& name : lineage(leaf)) add(state_.accounts[name].usage["gpu"], device_seconds);
    add(state_.accounts[leaf].own["gpu"], device_seconds);
  }

  // As the scheduler takes them, while each has one job and gets nothing.
  std::vector<std::string> order() const {
    const AccountLedger ledger(state_, "gpu");
    FairShareTree tree(state_, ledger, kNow);
    for (const std::string& leaf : leaves_) tree.add(leaf);
    std::vector<std::string> order;
    while (order.size() < leaves_.size()) {
      order.push_back(tree.next());
      tree.remove(order.back());
    }
    return order;
  }

  // The documentation's algorithm: visit a subtree's children by descending Level Fairshare, S / U, where S
  // and U are normalised among siblings.
  std::vector<std::string> slurm_order(const std::string& under = "") const {
    std::vector<std::string> children, order;
    double shares = 0, usage = 0;
    for (const auto& [name, account] : state_.accounts) {
      const std::size_t slash = name.rfind('/');
      if ((slash == std::string::npos ? "" : name.substr(0, slash)) != under) continue;
      children.push_back(name);
      shares += account.rules.share;
      usage += account.usage.at("gpu").device_seconds;
    }
    if (children.empty()) return {under};
    const auto level_fairshare = [&](const std::string& name) {
      const Account& account = state_.accounts.at(name);
      return (account.rules.share / shares) / (account.usage.at("gpu").device_seconds / usage);
    };
    std::ranges::sort(children, std::greater(), level_fairshare);
    for (const std::string& child : children)
      for (std::string& leaf : slurm_order(child)) order.push_back(std::move(leaf));
    return order;
  }

 private:
  static void add(Usage& usage, double device_seconds) {
    usage.device_seconds += device_seconds;
    usage.at = kNow;
  }

  ClusterState state_;
  std::vector<std::string> leaves_;
};

// "root => Acct1 => Acct12 => UserA, root => Acct1 => Acct16 => UserB: […] If UserB has a higher FairShare
// value than UserA, Acct16 has a higher Level FS value than Acct12": what the users themselves used against
// each other does not matter.
TEST(FairTree, TheFirstCommonAncestorsChildrenDecide) {
  Tree tree;
  tree.use("Acct1/Acct12/UserA", 10);
  tree.use("Acct1/Acct12/UserC", 500);
  tree.use("Acct1/Acct16/UserB", 400);
  EXPECT_EQ(tree.order(),
            (std::vector<std::string>{"Acct1/Acct16/UserB", "Acct1/Acct12/UserA", "Acct1/Acct12/UserC"}));
  tree.share("Acct1/Acct12", 2);
  EXPECT_EQ(tree.order(),
            (std::vector<std::string>{"Acct1/Acct12/UserA", "Acct1/Acct12/UserC", "Acct1/Acct16/UserB"}));
}

TEST(FairTree, TheOrderIsSlurmsForAnyTree) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    Tree tree;
    const int top = 2 + static_cast<int>(random() % 4);
    for (int a = 0; a < top; ++a) {
      const std::string account = "a" + std::to_string(a);
      tree.share(account, 1 + static_cast<int>(random() % 9));
      const int inner = 1 + static_cast<int>(random() % 3);
      for (int b = 0; b < inner; ++b) {
        const std::string group = account + "/b" + std::to_string(b);
        tree.share(group, 1 + static_cast<int>(random() % 9));
        const int users = static_cast<int>(random() % 4);
        if (users == 0) tree.use(group, 1 + static_cast<double>(random() % 100'000'000));
        for (int c = 0; c < users; ++c)
          tree.use(group + "/c" + std::to_string(c), 1 + static_cast<double>(random() % 100'000'000));
      }
    }
    EXPECT_EQ(tree.order(), tree.slurm_order()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace podium
