// podium accounts: the account tree, what each holds and has used; podium accounts set: makes one, and its
// share, quota and limit; podium accounts delete.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/print.h"
#include "cli/table.h"
#include "common/net/url.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct AccountChange {
  std::string account;
  int share = 0;                          // 0: as it is
  std::vector<std::string> quota, limit;  // "gpu=64"
};

// {"gpu=64", "cpu=none"} → {"gpu": 64, "cpu": null}.
json devices_of(const std::vector<std::string>& texts) {
  json devices = json::object();
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string number = text.substr(equals + 1);
    devices[text.substr(0, equals)] = number == "none" ? json(nullptr) : json(std::stoi(number));
  }
  return devices;
}

std::string check_devices(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  const bool digits =
      !number.empty() && number.size() <= 9 && number.find_first_not_of("0123456789") == std::string::npos;
  if (equals != std::string::npos && equals > 0 && (digits || number == "none")) return "";
  return "\"" + text + "\" must be written as gpu=64, or gpu=none to lift it";
}

// The name without what is above it, as deep as it is in the tree.
std::string branch(const std::string& account) {
  const auto depth = static_cast<std::size_t>(std::ranges::count(account, '/'));
  return std::string(2 * depth, ' ') + account.substr(account.rfind('/') + 1);
}

std::string number_of(const json& devices, const std::string& kind) {
  return devices.contains(kind) ? std::to_string(integer_field(devices, kind.c_str())) : "–";
}

std::set<std::string> kinds_of(const json& account) {
  std::set<std::string> kinds;
  for (const char* part : {"usage", "quota", "limit"})
    for (const auto& [kind, value] : account.at(part).items()) kinds.insert(kind);
  return kinds;
}

std::string accounts_table(const json& accounts, const Terminal& terminal) {
  Table table({{"ACCOUNT", false, true, 12},
               {"SHARE", true},
               {"KIND"},
               {"HELD", true},
               {"BORROWED", true},
               {"QUOTA", true},
               {"LIMIT", true},
               {"WAITING", true},
               {"USED, HOURS", true, false, 0, 1},
               {"BY SHARE", true}});
  for (const json& account : accounts) {
    std::string name = branch(text_field(account, "account"));
    std::string share = std::to_string(integer_field(account, "share"));
    const std::set<std::string> kinds = kinds_of(account);
    if (kinds.empty()) table.add({{name}, {share}, {"–"}, {"–"}, {"–"}, {"–"}, {"–"}, {"–"}, {"–"}, {"–"}});
    for (const std::string& kind : kinds) {
      const json usage = field(field(account, "usage"), kind.c_str());
      table.add({{std::exchange(name, "")},
                 {std::exchange(share, "")},
                 {kind},
                 {std::to_string(integer_field(usage, "devices"))},
                 {std::to_string(integer_field(usage, "borrowed"))},
                 {number_of(field(account, "quota"), kind)},
                 {number_of(field(account, "limit"), kind)},
                 {std::to_string(integer_field(usage, "waiting_devices"))},
                 {fmt::format("{:.1f}", number_field(usage, "device_seconds") / 3600)},
                 {fmt::format("{:.1f}", number_field(usage, "factor") / 3600)}});
    }
  }
  return table.empty() ? "No accounts yet: jobs run for \"default\". Make one: podium accounts set nlp\n"
                       : table.render(terminal);
}

void list_accounts(const Session& session) {
  const json reply = Client(session).get("/accounts");
  print(session.json ? reply.dump() + "\n" : accounts_table(reply.at("accounts"), detect_terminal()));
}

void set_account(const AccountChange& change, const Session& session) {
  json body = json::object();
  if (change.share > 0) body["share"] = change.share;
  if (!change.quota.empty()) body["quota"] = devices_of(change.quota);
  if (!change.limit.empty()) body["limit"] = devices_of(change.limit);
  const json account = Client(session).post("/accounts/" + encode_component(change.account), body);
  print(session.json ? account.dump() + "\n" : accounts_table(json::array({account}), detect_terminal()));
  if (session.json) return;
  for (const json& warning : account.value("warnings", json::array()))
    fmt::print(stderr, "warning: {}\n", warning.get<std::string>());
}

void remove(const std::string& account, const Session& session) {
  Client(session).remove("/accounts/" + encode_component(account));
  print(session.json ? json{{"account", account}, {"deleted", true}}.dump() + "\n"
                     : "account " + account + " is deleted\n");
}

void add_account_set(CLI::App& accounts, Session& session) {
  const auto change = std::make_shared<AccountChange>();
  CLI::App* command =
      accounts.add_subcommand("set", "Make or change an account; settings that are not named stay");
  command->add_option("ACCOUNT", change->account, "Its name in specs: nlp, or nlp/bert below it")->required();
  command->add_option("--share", change->share, "Its share of what its parent gets, relative to its siblings")
      ->check(CLI::Range(1, 1'000'000));
  const CLI::Validator devices(check_devices, "KIND=DEVICES");
  command->add_option("--quota", change->quota, "Guaranteed devices; none lifts it")->check(devices);
  command->add_option("--limit", change->limit, "Most devices at a time; none lifts it")->check(devices);
  command->footer(R"(
A job may name "default" or an account that was made. Make nlp before nlp/bert.

Examples:
  podium accounts set nlp --share 3 --quota gpu=64 --limit gpu=128
  podium accounts set nlp/bert
  podium accounts set nlp/bert --limit gpu=none)");
  command->callback([change, &session] { set_account(*change, session); });
}

void add_delete(CLI::App& accounts, Session& session) {
  const auto account = std::make_shared<std::string>();
  CLI::App* command =
      accounts.add_subcommand("delete", "Delete an account that no job needs, with its usage");
  command->add_option("ACCOUNT", *account, "As jobs name it")->required();
  command->footer(R"(
Refused while its jobs wait or run, while an account is below it, or while a node is reserved for it.

Examples:
  podium accounts delete nlp/bert)");
  command->callback([account, &session] { remove(*account, session); });
}

}  // namespace

void add_accounts(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("accounts", "Show the account tree; make, change and delete accounts");
  command->footer(R"(
Each line counts an account with all accounts below it. HELD devices beyond the quotas are BORROWED and may be
reclaimed. WAITING: devices that jobs in the queue ask for. USED, in device hours, decays (podium-coordinator
--half-life). BY SHARE is usage divided by share: under the policy fair-share the sibling with the smallest goes first.

Examples:
  podium accounts
  podium accounts set nlp --share 3 --quota gpu=64 --limit gpu=128
  podium accounts delete nlp/bert)");
  command->callback([command, &session] {
    if (is_list(*command)) list_accounts(session);
  });
  add_list_word(*command);
  add_account_set(*command, session);
  add_delete(*command, session);
}

}  // namespace podium::cli
