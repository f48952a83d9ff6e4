// podium-coordinator: reads its settings, claims its home and serves. Exit codes: 0 stopped by a signal, 1 a
// failure of its surroundings, 2 a mistake of the user, such as on the command line.
#include <malloc.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <thread>

#include "common/base/logging.h"
#include "coordinator/coordinator.h"
#include "coordinator/home.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

constexpr int kFailed = 1;
constexpr int kMistake = 2;

// Every connection is a file descriptor, and the usual soft limit is 1,024.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int complain(const Errors& errors) {
  std::fprintf(stderr, "podium-coordinator: %s\n", describe(errors).c_str());
  return kMistake;
}

// Every node holds the agent token, and whoever asks services theirs: if one of them were the user token as
// well, all of those could change everything.
Errors check_tokens(const Config& config, const Tokens& tokens) {
  std::vector<std::pair<std::string, std::filesystem::path>> known;  // tokens, and where they lie
  for (const auto& [token, file] :
       {std::pair(tokens.user, config.user_token_file), std::pair(tokens.agent, config.agent_token_file),
        std::pair(tokens.services, config.services_token_file)}) {
    for (const auto& [other, its_file] : known)
      if (token == other)
        return {{ErrorCode::invalid,
                 its_file.string() + " and " + file.string() +
                     " hold the same token; remove one of them to have another made, and give it to those "
                     "who use it",
                 ""}};
    known.emplace_back(token, file);
  }
  return {};
}

// For people and scripts; a full disk must not keep the coordinator from starting.
void tell_address(const std::filesystem::path& file, const std::string& address) {
  try {
    write_file_atomic(file, address + "\n");
  } catch (const std::exception& error) {
    spdlog::error("{}; going on without it", error.what());
  }
}

// Waits for room on a full disk, as a running coordinator does.
std::unique_ptr<Coordinator> make_coordinator(const Config& config, const Tokens& tokens) {
  for (bool told = false;; told = true) {
    try {
      return std::make_unique<Coordinator>(config, tokens);
    } catch (const SqliteError& error) {
      const int kind = error.code() & 0xff;
      if (kind != SQLITE_FULL && kind != SQLITE_IOERR) throw;
      if (!told)
        spdlog::error("{}; starting once the disk takes writes again: make room on it, or mend it",
                      error.what());
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

int serve(const Config& config) {
  const Result<Fd> home = claim_home(config.home);
  if (!home) return complain(home.errors());
  sweep_home(config.home);
  const Result<bool> history = check_history(config.home, config.begin_anew);
  if (!history) return complain(history.errors());
  const Result<std::string> user = read_or_make_token(config.user_token_file);
  const Result<std::string> agent = read_or_make_token(config.agent_token_file);
  for (const auto* token : {&user, &agent})
    if (!token->ok()) return complain(token->errors());
  const Result<std::string> run_key = read_or_make_token(config.home / "runs.key");
  if (!run_key) return complain(run_key.errors());
  Tokens tokens{*user, *agent, "", *run_key};
  if (config.services) {
    const Result<std::string> services = read_or_make_token(config.services_token_file);
    if (!services) return complain(services.errors());
    tokens.services = *services;
  }
  if (const Errors same = check_tokens(config, tokens); !same.empty()) return complain(same);
  const auto coordinator = make_coordinator(config, tokens);
  tell_address(config.home / "coordinator.address", coordinator->address());
  if (config.services) tell_address(config.home / "services.address", coordinator->services());
  spdlog::info("podium-coordinator {} serves {} from {}", PODIUM_VERSION, coordinator->address(),
               config.home.string());
  if (!config.loopback_only() && config.tls_certificate.empty())
    spdlog::warn("tokens travel in the clear on {}; --tls-cert and --tls-key encrypt them",
                 config.listen.text());
  if (!config.webhooks.empty() && readable_by_others(config.webhooks_file))
    spdlog::warn("{} can be read by other users of this machine; chmod 600 it",
                 config.webhooks_file.string());
  coordinator->run();
  spdlog::info("stopped");
  return 0;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) {
  // Few threads allocate much: more arenas would only keep more memory.
  mallopt(M_ARENA_MAX, 2);
  podium::allow_many_connections();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error like a full disk
  int exit_code = 0;
  try {
    const auto config = podium::read_config(argc, argv, exit_code);
    if (!config) return exit_code == 0 ? 0 : podium::kMistake;
    podium::set_up_logging("podium-coordinator", config->log_level);
    return podium::serve(*config);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "podium-coordinator: %s\n", error.what());
    return podium::kFailed;
  }
}
