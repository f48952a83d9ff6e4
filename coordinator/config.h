// The daemon's settings, from the command line and a YAML file with the same names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/net/url.h"
#include "common/spec/published.h"
#include "coordinator/core/state/state.h"
#include "coordinator/mlflow/artifact_files.h"
#include "coordinator/pilots/slurm_options.h"
#include "coordinator/specs/spec_repository.h"
#include "coordinator/store/store.h"
#include "coordinator/tracking/cost.h"
#include "coordinator/webhooks/webhook_config.h"

namespace podium {

struct Config {
  std::filesystem::path home;
  HostPort listen{"127.0.0.1", 7070};
  std::filesystem::path user_token_file;      // <home>/user.token when not given
  std::filesystem::path agent_token_file;     // <home>/agent.token when not given
  std::optional<HostPort> services;           // where services are asked; none: this coordinator has none
  std::filesystem::path services_token_file;  // <home>/services.token when not given
  std::filesystem::path webhooks_file;        // <home>/webhooks.yaml when not given
  std::filesystem::path web;
  std::vector<PublishedRow> published = shipped_published();  // and those of --published
  std::string tls_certificate;
  std::string tls_key;
  bool open_reads = false;  // also when others than this machine can ask
  std::vector<SpecRepository> specs;
  Duration specs_every = std::chrono::seconds(60);
  std::string log_level = "info";
  bool begin_anew = false;
  bool nothing_shared = false;
  std::filesystem::path shared;  // of the nodes, as it is mounted here; "": it is not
  std::optional<Duration> lease, unknown_after, lost_after;  // as given
  Limits limits;                                             // as settled
  SchedulingOptions scheduling;
  StoreOptions store;
  std::int64_t max_artifact = 10'000'000'000;  // bytes
  mlflow::ArtifactRoom artifacts;              // of each run
  Prices prices;
  std::vector<WebhookConfig> webhooks;
  SlurmOptions slurm;

  bool loopback_only() const;
};

// Nothing where the program has printed help or a mistake and must end with `exit_code`.
std::optional<Config> read_config(int argc, char** argv, int& exit_code);

}  // namespace podium
