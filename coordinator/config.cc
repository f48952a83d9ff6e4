#include "coordinator/config.h"

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>
#include <nlohmann/json.hpp>

#include "common/base/units.h"
#include "common/spec/problems.h"
#include "common/spec/source_map.h"
#include "common/spec/yaml_document.h"
#include "coordinator/core/policy.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr const char* kExamples = R"(
Examples:
  podium-coordinator --home ~/podium --web /usr/local/share/podium/web
      a coordinator for this machine, on http://127.0.0.1:7070
  podium-coordinator --home /var/lib/podium --listen 0.0.0.0:7070 \
      --tls-cert /etc/podium/cert.pem --tls-key /etc/podium/key.pem
      for a cluster: reading needs a token as well, unless --open-reads is given
  podium-coordinator --config /etc/podium/coordinator.yaml
      the same settings from a file, one a line: "listen: 0.0.0.0:7070"

The tokens are made when their files do not exist: <home>/user.token is for people, <home>/agent.token for agents.
They must differ.
SIGTERM stops the coordinator; jobs go on and are found again when it is back.)";

// Lets CLI11 read its settings from YAML: a mapping from option names to plain values.
class YamlConfig final : public CLI::Config {
 public:
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return ""; }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const std::string text(std::istreambuf_iterator<char>(input), {});
    SourceMap places;
    Problems problems("configuration file", places);
    const std::optional<json> settings = read_yaml(text, places, problems);
    if (!problems.empty()) throw CLI::ConfigError(describe(problems.errors()));
    if (!settings || !settings->is_object())
      throw CLI::ConfigError("the configuration file must be a YAML mapping from settings to values");
    std::vector<CLI::ConfigItem> given;
    for (const auto& [name, value] : settings->items()) {
      CLI::ConfigItem item;
      item.name = name;
      for (const json& single : value.is_array() ? value : json::array({value})) {
        if (single.is_structured() || single.is_null())
          throw CLI::ConfigError("setting \"" + name + "\" must be a plain value or a list of them");
        item.inputs.push_back(single.is_string() ? single.get<std::string>() : single.dump());
      }
      given.push_back(std::move(item));
    }
    return given;
  }
};

std::string check_duration(const std::string& text) {
  return parse_duration(text) ? "" : "\"" + text + "\" is not a duration; write it like 90s or 2h30m";
}

std::string check_listen(const std::string& text) {
  const Result<HostPort> parsed = parse_host_port(text);
  if (!parsed) return describe(parsed.errors());
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(parsed->host, not_an_address);
  return not_an_address
             ? "\"" + parsed->host + "\" must be an IP address of this machine, like 127.0.0.1 or 0.0.0.0"
             : "";
}

std::string check_specs(const std::string& text) { return describe(parse_spec_repository(text).errors()); }

void add_duration(CLI::App& app, const std::string& name, Duration& value, const std::string& help) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& text) { value = *parse_duration(text); }, help)
      ->type_name("DURATION")
      ->check(CLI::Validator(check_duration, ""))
      ->default_str(format_duration(value));
}

void add_scheduling(CLI::App& app, SchedulingOptions& scheduling) {
  app.add_option_function<std::string>(
         "--policy", [&scheduling](const std::string& name) { scheduling.policy = *policy_named(name); },
         "who goes first")
      ->check(CLI::IsMember(policy_names()))
      ->default_str(std::string(policy_of(scheduling.policy).name()));
  app.add_flag("--preempt", scheduling.preempt,
               "under priority-backfill a job may stop running jobs of lower priority to make room");
  add_duration(app, "--ageing", scheduling.ageing, "waiting that weighs as much as one point of priority");
  add_duration(app, "--resize-after", scheduling.resize_after,
               "how long an elastic job keeps its size before it grows or shrinks");
  app.add_option("--walltime-weight", scheduling.walltime_weight,
                 "hours of waiting that weigh as much as one hour of the walltime a job asks for; 0: none")
      ->type_name("FACTOR")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  add_duration(app, "--half-life", scheduling.half_life,
               "after which what an account has used counts half, for the policy fair-share");
}

void add_options(CLI::App& app, Config& config) {
  app.add_option("--home", config.home, "folder of everything the coordinator keeps; made when absent")
      ->type_name("FOLDER")
      ->required();
  app.add_option_function<std::string>(
         "--listen", [&config](const std::string& text) { config.listen = *parse_host_port(text); },
         "address and port; port 0 takes any free one and <home>/coordinator.address names it")
      ->type_name("ADDRESS:PORT")
      ->check(CLI::Validator(check_listen, ""))
      ->default_str(config.listen.text());
  app.add_option("--user-token-file", config.user_token_file, "the token of people [<home>/user.token]")
      ->type_name("FILE");
  app.add_option("--agent-token-file", config.agent_token_file, "the token of agents [<home>/agent.token]")
      ->type_name("FILE");
  app.add_option("--web", config.web, "folder of the built dashboard")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  auto* certificate =
      app.add_option("--tls-cert", config.tls_certificate, "serve HTTPS with this certificate chain (PEM)")
          ->type_name("FILE")
          ->check(CLI::ExistingFile);
  auto* key = app.add_option("--tls-key", config.tls_key, "the certificate's key (PEM)")
                  ->type_name("FILE")
                  ->check(CLI::ExistingFile);
  certificate->needs(key);
  key->needs(certificate);
  app.add_flag("--open-reads", config.open_reads, "reading needs no token, whoever can reach the address");
  add_scheduling(app, config.scheduling);
  add_duration(app, "--node-unknown-after", config.limits.unknown_after, "silence that makes a node unknown");
  add_duration(app, "--node-lost-after", config.limits.lost_after,
               "silence that makes a node lost, and its tasks with it");
  add_duration(app, "--lease", config.limits.lease,
               "an agent that hears nothing for so long stops its tasks");
  app.add_option_function<std::vector<std::string>>(
         "--specs",
         [&config](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) config.specs.push_back(*parse_spec_repository(text));
         },
         "a git repository whose specs are submitted as they are committed; may be repeated")
      ->type_name("URL[,branch=NAME][,files=PATHSPEC][,name=NAME]")
      ->check(CLI::Validator(check_specs, ""));
  add_duration(app, "--specs-every", config.specs_every, "how often the repositories are looked at");
  app.add_option("--log-level", config.log_level, "trace, debug, info, warning, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

// Giving a node's devices away before its agent has let go of them would run two jobs on one device.
std::string check_limits(const Limits& limits) {
  const Duration least = limits.lease + std::chrono::seconds(15) + std::chrono::seconds(30);
  if (limits.lost_after >= least) return "";
  return "--node-lost-after must be at least " + format_duration(least) +
         ": the lease, 15s for the answer the agent heard last and 30s for its tasks to leave";
}

}  // namespace

bool Config::loopback_only() const { return boost::asio::ip::make_address(listen.host).is_loopback(); }

std::optional<Config> read_config(int argc, char** argv, int& exit_code) {
  Config config;
  CLI::App app{"Podium's coordinator: REST API, scheduler, store and dashboard of a cluster."};
  app.footer(kExamples);
  app.set_version_flag("--version", "podium-coordinator " PODIUM_VERSION);
  app.set_config("--config", "", "YAML file of settings, named as these options");
  app.config_formatter(std::make_shared<YamlConfig>());
  app.allow_config_extras(false);
  add_options(app, config);
  try {
    app.parse(argc, argv);
    if (const std::string wrong = check_limits(config.limits); !wrong.empty())
      throw CLI::ValidationError(wrong);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return std::nullopt;
  }
  config.home = std::filesystem::absolute(config.home);
  if (config.user_token_file.empty()) config.user_token_file = config.home / "user.token";
  if (config.agent_token_file.empty()) config.agent_token_file = config.home / "agent.token";
  return config;
}

}  // namespace podium
