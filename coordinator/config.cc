#include "coordinator/config.h"

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/net/access.h"
#include "common/spec/problems.h"
#include "common/spec/source_map.h"
#include "common/spec/yaml_document.h"
#include "coordinator/core/policies/policy.h"
#include "coordinator/slurm_config.h"

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
  podium-coordinator --home ~/podium --services 127.0.0.1:7071
      models that jobs serve are asked there: curl http://127.0.0.1:7071/NAME/fill-mask -d '{…}'

  podium-coordinator --home ~/podium --listen 0.0.0.0:7070 --tls-cert cert.pem --tls-key key.pem \
      --slurm gpu --slurm-gpus 8 --slurm-nodes 16 --slurm-shared /lustre/podium --slurm-data /lustre/corpora
      nodes come from Slurm's partition gpu while jobs wait for them

The tokens are made when their files do not exist: <home>/user.token is for people, <home>/agent.token for agents,
with --services <home>/services.token for programs that ask services. They must differ.
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
  return parse_duration(text) ? ""
                              : "\"" + text + "\" is not a duration; write it like 90s or 2h30m, at most " +
                                    format_duration(kLongestDuration);
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

// The rows of all files of a folder, or all their mistakes.
Result<std::vector<PublishedRow>> read_published(const std::filesystem::path& folder) {
  std::vector<PublishedRow> rows;
  Errors errors;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const auto file = load_published(read_file(entry.path()), entry.path().string());
    errors.insert(errors.end(), file.errors().begin(), file.errors().end());
    if (file) rows.insert(rows.end(), file->begin(), file->end());
  }
  if (!errors.empty()) return errors;
  return rows;
}

std::string check_published(const std::string& folder) {
  try {
    const std::string wrong = describe(read_published(folder).errors());
    return wrong.empty() ? "" : "\n" + wrong;
  } catch (const std::exception& error) {
    return error.what();
  }
}

void add_published(CLI::App& app, Config& config) {
  app.add_option_function<std::vector<std::string>>(
         "--published",
         [&config](const std::vector<std::string>& folders) {
           for (const std::string& folder : folders)
             std::ranges::copy(*read_published(folder), std::back_inserter(config.published));
           sort_published(config.published);
         },
         "folder of YAML files with figures that others published, beside those that come with Podium "
         "(schemas/published.schema.json); may be repeated")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory)
      ->check(CLI::Validator(check_published, ""));
}

std::string check_price(const std::string& text) { return describe(parse_price(text).errors()); }

void add_prices(CLI::App& app, Prices& prices) {
  auto* currency =
      app.add_option("--currency", prices.currency, "the currency of prices, like USD")->type_name("NAME");
  auto* price =
      app.add_option_function<std::vector<std::string>>(
             "--price",
             [&prices](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) prices.list.push_back(*parse_price(text));
             },
             "the price of a device-hour of a kind, or of one model of that kind, for the cost of jobs; "
             "may be repeated")
          ->type_name("KIND[/MODEL]=AMOUNT")
          ->check(CLI::Validator(check_price, ""));
  price->needs(currency);
  currency->needs(price);
}

// Each device has one price.
std::string check_prices(const Prices& prices) {
  for (std::size_t i = 0; i < prices.list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (of_same_devices(prices.list[i], prices.list[j]))
        return "--price is given twice for " + prices.list[i].kind +
               (prices.list[i].model.empty() ? "" : "/" + prices.list[i].model);
  return "";
}

void add_duration(CLI::App& app, const std::string& name, Duration& value, const std::string& help) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& text) { value = *parse_duration(text); }, help)
      ->type_name("DURATION")
      ->check(CLI::Validator(check_duration, ""))
      ->default_str(format_duration(value));
}

void add_optional_duration(CLI::App& app, const std::string& name, std::optional<Duration>& value,
                           const std::string& help) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& text) { value = *parse_duration(text); }, help)
      ->type_name("DURATION")
      ->check(CLI::Validator(check_duration, ""));
}

void add_scheduling(CLI::App& app, SchedulingOptions& scheduling) {
  app.add_option_function<std::string>(
         "--policy", [&scheduling](const std::string& name) { scheduling.policy = *policy_named(name); },
         "the order in which jobs start")
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
  app.add_option("--walltime-points", scheduling.walltime_points,
                 "points of priority that a walltime weighs at most")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  add_duration(app, "--max-walltime", scheduling.max_walltime,
               "longest walltime that a job may be submitted with; those submitted before keep theirs");
  add_duration(app, "--half-life", scheduling.half_life,
               "time after which usage counts half, under the policy fair-share");
}

void add_limits(CLI::App& app, Config& config) {
  app.add_flag("--nothing-shared", config.nothing_shared,
               "the nodes have no shared folder, and therefore no fence: tasks stop when the lease is over, "
               "and for 35s after each start the coordinator accepts and starts no jobs");
  add_optional_duration(app, "--lease", config.lease,
                        "how long a node may run tasks after each sync [1m; 30m with --nothing-shared]");
  add_duration(app, "--orphan-after", config.limits.orphan,
               "how long tasks go on without the coordinator, by the fence in the shared folder");
  add_optional_duration(app, "--node-unknown-after", config.unknown_after,
                        "silence that makes a node unknown [a third of the lease, at most 20s]");
  add_optional_duration(
      app, "--node-lost-after", config.lost_after,
      "silence that makes a node lost, and its tasks with it [as soon as the lease permits]");
}

std::string check_size(const std::string& text) {
  return parse_size(text) ? "" : "\"" + text + "\" is not a size; write it like 64MB or 10GiB";
}

template <class Size>
void add_size(CLI::App& app, const std::string& name, Size& value, const std::string& otherwise,
              const std::string& help) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& text) { value = *parse_size(text); }, help)
      ->type_name("SIZE")
      ->check(CLI::Validator(check_size, ""))
      ->default_str(otherwise);
}

std::string check_keep(const std::string& text) {
  const std::string wrong = text == "forever" ? "" : check_duration(text);
  return wrong.empty() ? "" : wrong + ", or forever";
}

void add_keep(CLI::App& app, const std::string& name, Duration& value, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&value](const std::string& text) { value = text == "forever" ? kForever : *parse_duration(text); },
         help)
      ->type_name("DURATION")
      ->check(CLI::Validator(check_keep, ""))
      ->default_str(value == kForever ? "forever" : format_duration(value));
}

void add_store(CLI::App& app, StoreOptions& store) {
  add_size(app, "--log-limit", store.logs.one, "64MB",
           "how much is kept of one task's stdout or stderr: the beginning (a quarter of it) and the end");
  add_size(app, "--logs-quota", store.logs.all, "10GB",
           "how much is kept of all logs; those of the jobs that ended longest ago are removed first");
  Retention& keep = store.retention;
  add_keep(app, "--keep-logs", keep[Kept::logs], "how long logs are kept after a job's end");
  add_keep(app, "--keep-points", keep[Kept::points],
           "how long all points of curves are kept after a job's end; then some 2000 of each stay");
  add_keep(app, "--keep-history", keep[Kept::history],
           "how long the lines of a job's history are kept after its end");
  add_keep(app, "--keep-checkpoints", keep[Kept::checkpoints],
           "when after a job's end podium retention due begins to list its checkpoints; Podium deletes none. "
           "podium retention set gives an experiment its own times");
  add_size(app, "--disk-reserve", store.disk_reserve, "256MB, or a tenth of a smaller disk",
           "with less than this free on the home's disk, submissions, logs and metrics are refused until "
           "there is room again");
}

void add_options(CLI::App& app, Config& config) {
  app.add_option("--home", config.home, "folder of everything the coordinator keeps; made when absent")
      ->type_name("FOLDER")
      ->required();
  app.add_flag(
      "--begin-anew", config.begin_anew,
      "begin a new cluster where the database of the old one is gone; tasks on its nodes are parked");
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
  app.add_option_function<std::string>(
         "--services", [&config](const std::string& text) { config.services = *parse_host_port(text); },
         "address and port at which the services of specs with \"task: serve\" are asked; without it such "
         "specs "
         "are refused. Port 0 takes any free one and <home>/services.address names it")
      ->type_name("ADDRESS:PORT")
      ->check(CLI::Validator(check_listen, ""));
  app.add_option("--services-token-file", config.services_token_file,
                 "the token of those who ask services from other machines [<home>/services.token]")
      ->type_name("FILE");
  app.add_option(
         "--webhooks", config.webhooks_file,
         "YAML file of addresses that are told when jobs start and end, targets are reached and nodes "
         "are lost (schemas/webhooks.schema.json) [<home>/webhooks.yaml, if there is one]")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_option("--web", config.web, "folder of the built dashboard")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  add_published(app, config);
  add_prices(app, config.prices);
  auto* certificate =
      app.add_option("--tls-cert", config.tls_certificate, "serve HTTPS with this certificate chain (PEM)")
          ->type_name("FILE")
          ->check(CLI::ExistingFile);
  auto* key = app.add_option("--tls-key", config.tls_key, "the certificate's key (PEM)")
                  ->type_name("FILE")
                  ->check(CLI::ExistingFile);
  certificate->needs(key);
  key->needs(certificate);
  app.add_option(
         "--shared", config.shared,
         "the nodes' shared folder, where it is mounted here, too: the outputs of jobs are listed and served "
         "from it")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--open-reads", config.open_reads,
               "let everyone who can reach the address read, without a token");
  add_slurm(app, config.slurm);
  add_scheduling(app, config.scheduling);
  add_limits(app, config);
  add_store(app, config.store);
  add_size(app, "--max-artifact", config.max_artifact, "10GB",
           "how large a file may be that MLflow's clients put beside a run");
  add_size(app, "--run-artifacts", config.artifacts.bytes, "1TB",
           "how much all such files of one run may be; they are 100000 at most");
  add_duration(app, "--start-within", config.limits.start_within,
               "how long a node may take to start a task; then the job starts elsewhere");
  add_duration(app, "--stop-within", config.limits.stop_within,
               "how long a node may take to end a task that has the usual 30s to leave (a longer stop.grace "
               "is added); "
               "then the task counts as lost, and the node is drained");
  app.add_option_function<std::vector<std::string>>(
         "--specs",
         [&config](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) config.specs.push_back(*parse_spec_repository(text));
         },
         "a git repository whose specs are submitted as they are committed; with existing=submit also those "
         "that it has already; may be repeated")
      ->type_name("URL[,branch=NAME][,files=PATHSPEC][,name=NAME][,existing=leave|submit]")
      ->check(CLI::Validator(check_specs, ""));
  add_duration(app, "--specs-every", config.specs_every, "how often the repositories are looked at");
  app.add_option("--log-level", config.log_level, "trace, debug, info, warning, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

// Limits that are not given follow from the lease.
void settle_limits(Config& config) {
  Limits& limits = config.limits;
  limits.shared = !config.nothing_shared;
  limits.lease = config.lease.value_or(limits.shared ? lease::kUsual : lease::kUsualAlone);
  limits.unknown_after = config.unknown_after.value_or(lease::unknown_after(limits.lease));
  limits.lost_after = config.lost_after.value_or(
      std::max(limits.unknown_after, lease::lost_after(limits.lease, limits.shared)));
}

// Below these limits a task could run twice, or none could run.
std::string check_limits(const Limits& limits) {
  const auto at_least = [](const char* option, Duration least, const std::string& why) {
    return std::string(option) + " must be at least " + format_duration(least) + ": " + why;
  };
  if (limits.lease < lease::kLeast)
    return at_least("--lease", lease::kLeast,
                    "agents must be able to renew it, and their tasks to leave after it");
  if (limits.lease > lease::kMost) return "--lease must be at most " + format_duration(lease::kMost);
  if (limits.orphan < limits.lease)
    return at_least("--orphan-after", limits.lease, "tasks may go on for the lease anyway");
  if (const Duration poll = lease::longest_poll(limits.lease); limits.unknown_after <= poll)
    return "--node-unknown-after must be more than " + format_duration(poll) +
           ", the longest time of a long poll";
  if (limits.stop_within <= kUsualGrace)
    return "--stop-within must be longer than the " + format_duration(kUsualGrace) +
           " that tasks have to leave";
  if (limits.start_within < std::chrono::seconds(5))
    return "--start-within must be at least 5s: a node has to read its orders first";
  const Duration least = std::max(limits.unknown_after, lease::lost_after(limits.lease, limits.shared));
  if (limits.lost_after >= least) return "";
  return at_least("--node-lost-after", least,
                  limits.shared ? "until then the node is unknown, or its lease may not be over"
                                : "until then the node's lease may not be over, and its tasks have " +
                                      format_duration(lease::leave(limits.lease)) + " to leave");
}

// What is wrong with them; "" where nothing is.
std::string read_webhooks(Config& config) {
  if (config.webhooks_file.empty()) config.webhooks_file = config.home / "webhooks.yaml";
  if (!std::filesystem::exists(config.webhooks_file)) return "";
  Result<std::vector<WebhookConfig>> webhooks = load_webhooks(config.webhooks_file);
  if (!webhooks) return describe(webhooks.errors());
  config.webhooks = std::move(webhooks).value();
  return "";
}

}  // namespace

bool Config::loopback_only() const { return is_loopback(listen); }

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
    settle_limits(config);
    if (const std::string wrong = check_limits(config.limits); !wrong.empty())
      throw CLI::ValidationError(wrong);
    if (const std::string wrong = check_prices(config.prices); !wrong.empty())
      throw CLI::ValidationError(wrong);
    config.home = std::filesystem::absolute(config.home);
    if (const std::string wrong = read_webhooks(config); !wrong.empty()) throw CLI::ValidationError(wrong);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return std::nullopt;
  }
  if (config.user_token_file.empty()) config.user_token_file = config.home / "user.token";
  if (config.agent_token_file.empty()) config.agent_token_file = config.home / "agent.token";
  if (config.services_token_file.empty()) config.services_token_file = config.home / "services.token";
  if (const std::string wrong = settle_slurm(config); !wrong.empty()) {
    exit_code = app.exit(CLI::ValidationError(wrong));
    return std::nullopt;
  }
  return config;
}

}  // namespace podium
