// podium-coordinator: reads its settings, claims its home and serves. Exit codes: 0 stopped by a signal, 1
// the world failed it, 2 it was told something wrong (as for any mistake on the command line).
#include <malloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <exception>

#include "common/base/logging.h"
#include "coordinator/coordinator.h"
#include "coordinator/home.h"

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

// Agents' machines hold the agent token: were it the user token as well, each of them could change
// everything.
Errors check_tokens(const Config& config, const std::string& user, const std::string& agent) {
  if (user != agent) return {};
  return {
      {ErrorCode::invalid,
       config.user_token_file.string() + " and " + config.agent_token_file.string() +
           " hold the same token; remove one of them to have another made, and give it to those who use it",
       ""}};
}

int serve(const Config& config) {
  const Result<Fd> home = claim_home(config.home);
  if (!home) return complain(home.errors());
  const Result<std::string> user = read_or_make_token(config.user_token_file);
  const Result<std::string> agent = read_or_make_token(config.agent_token_file);
  for (const auto* token : {&user, &agent})
    if (!token->ok()) return complain(token->errors());
  if (const Errors same = check_tokens(config, *user, *agent); !same.empty()) return complain(same);
  Coordinator coordinator(config, {*user, *agent});
  write_file_atomic(config.home / "coordinator.address", coordinator.address() + "\n");
  spdlog::info("podium-coordinator {} serves {} from {}", PODIUM_VERSION, coordinator.address(),
               config.home.string());
  if (!config.loopback_only() && config.tls_certificate.empty())
    spdlog::warn("tokens travel in the clear on {}; --tls-cert and --tls-key encrypt them",
                 config.listen.text());
  coordinator.run();
  spdlog::info("stopped");
  return 0;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) {
  // Few threads allocate much: more arenas would only keep more memory.
  mallopt(M_ARENA_MAX, 2);
  podium::allow_many_connections();
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
