// The account tree. A job belongs to an account, such as "nlp/bert", and to all accounts above it, here
// "nlp". Only operators make accounts, because otherwise a new name would evade a limit; they set shares,
// guaranteed devices (quotas) and hard limits. `apply` maintains what is allocated to accounts and what they
// have used. Usage decays exponentially and is settled only when an allocation changes, so that a replay adds
// the same numbers in the same order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace podium {

// What operators set. Quota and limit are devices by kind.
struct AccountRules {
  int share = 1;                     // of what the parent gets, relative to siblings
  std::map<std::string, int> quota;  // guaranteed; devices beyond it are borrowed and can be reclaimed
  std::map<std::string, int> limit;  // never more than this at a time

  bool operator==(const AccountRules&) const = default;
};

// Of devices of one kind.
struct Usage {
  int devices = 0;            // allocated now
  double device_seconds = 0;  // decayed, as of `at`
  Time at;

  bool operator==(const Usage&) const = default;
};

struct Account {
  AccountRules rules;
  std::map<std::string, Usage> usage;  // by device kind, of everything at and below the account
  std::map<std::string, Usage> own;    // of the jobs that name the account itself

  bool operator==(const Account&) const = default;
};

inline constexpr std::string_view kDefaultAccount = "default";

// "nlp/bert" → {"nlp", "nlp/bert"}.
std::vector<std::string> lineage(const std::string& account);
// "nlp/bert" → "nlp" → "".
std::string parent_of(const std::string& account);
// 1 for "nlp", 2 for "nlp/bert".
int depth_of(const std::string& account);
bool is_at_or_below(const std::string& account, const std::string& above);
// Why `name` cannot be an account's name; nothing where it can.
std::optional<std::string> bad_account_name(const std::string& name);

// Decayed device seconds as of `now`: usage of `half_life` ago counts half.
double used(const Usage& usage, Duration half_life, Time now);

}  // namespace podium
