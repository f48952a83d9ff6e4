#include "coordinator/slurm_config.h"

#include <unistd.h>

#include "common/base/units.h"
#include "common/net/url.h"

namespace podium {
namespace {

constexpr Duration kShortestGrace = std::chrono::seconds(30);

std::string check_slurm_name(const std::string& text) {
  return is_slurm_name(text) ? "" : "\"" + text + "\" must " + kSlurmNameRule;
}

std::string check_slurm_duration(const std::string& text) {
  return parse_duration(text) ? "" : "\"" + text + "\" is not a duration; write it like 90s or 2h30m";
}

std::string check_absolute(const std::string& text) {
  const bool clean =
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == '%'; });
  return text.starts_with('/') && clean ? ""
                                        : "\"" + text + "\" must be an absolute path on the nodes, without %";
}

std::string check_url(const std::string& text) { return describe(parse_url(text).errors()); }

CLI::Option* add_time(CLI::App& app, const std::string& name, Duration& value, const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [&value](const std::string& text) { value = *parse_duration(text); }, help)
      ->type_name("DURATION")
      ->check(CLI::Validator(check_slurm_duration, ""))
      ->default_str(format_duration(value));
}

CLI::Option* add_path(CLI::App& app, const std::string& name, std::filesystem::path& value,
                      const std::string& help) {
  return app.add_option(name, value, help)->type_name("PATH")->check(CLI::Validator(check_absolute, ""));
}

std::string check_times(const SlurmOptions& slurm) {
  if (slurm.grace < kShortestGrace || slurm.grace > std::chrono::hours(1))
    return "--slurm-grace must be between 30s and 1h: tasks have it to save and leave";
  if (longest_job(slurm) < std::chrono::minutes(1))
    return "--slurm-walltime must be at least " +
           format_duration(slurm.walltime - longest_job(slurm) + std::chrono::minutes(1)) + ": of it " +
           format_duration(kPilotStart) + " are for the start and --slurm-grace for the end";
  return "";
}

}  // namespace

void add_slurm(CLI::App& app, SlurmOptions& slurm) {
  auto* const partition =
      app.add_option(
             "--slurm", slurm.partition,
             "take nodes from this partition of Slurm while jobs wait for devices, and give them back "
             "(docs/slurm.md)")
          ->type_name("PARTITION")
          ->check(CLI::Validator(check_slurm_name, ""));
  const auto with_slurm = [partition](CLI::Option* option) { option->needs(partition); };
  with_slurm(app.add_option("--slurm-account", slurm.account, "Slurm's account for them")
                 ->check(CLI::Validator(check_slurm_name, "")));
  with_slurm(app.add_option("--slurm-nodes", slurm.nodes, "how many of them at a time, at most")
                 ->check(CLI::Range(1, 10'000))
                 ->capture_default_str());
  with_slurm(
      app.add_option("--slurm-gpus", slurm.gpus, "GPUs of each of these nodes; 0: they offer CPU slots")
          ->check(CLI::Range(0, 1024))
          ->capture_default_str());
  with_slurm(
      app.add_option("--slurm-cpu-slots", slurm.cpu_slots, "CPU slots of each, where they have no GPUs")
          ->check(CLI::Range(1, 1024))
          ->capture_default_str());
  with_slurm(add_time(app, "--slurm-walltime", slurm.walltime, "how long an allocation may last, at most"));
  with_slurm(add_time(app, "--slurm-idle", slurm.idle,
                      "how long an allocation is kept for the next job while nothing runs there"));
  with_slurm(add_time(app, "--slurm-grace", slurm.grace,
                      "how long before the end of an allocation its tasks are told to save and leave"));
  with_slurm(add_path(app, "--slurm-shared", slurm.shared, "--shared of the agents there"));
  with_slurm(add_path(app, "--slurm-data", slurm.data, "--data of the agents there"));
  with_slurm(add_path(app, "--slurm-home", slurm.home,
                      "folder of the nodes' local disks below which agents keep their homes "
                      "[/tmp/podium-<user id>]"));
  with_slurm(add_path(app, "--slurm-token-file", slurm.token_file,
                      "the agents' token as the nodes see it [the coordinator's own file]"));
  with_slurm(add_path(app, "--slurm-ca-file", slurm.ca_file, "--ca-file of the agents there"));
  with_slurm(
      app.add_option("--slurm-agent", slurm.agent, "podium-agent on the nodes")->capture_default_str());
  with_slurm(app.add_option("--slurm-coordinator", slurm.coordinator,
                            "the address that agents there use [this machine's name and port]")
                 ->type_name("URL")
                 ->check(CLI::Validator(check_url, "")));
}

std::string settle_slurm(Config& config) {
  SlurmOptions& slurm = config.slurm;
  if (!slurm.on()) return "";
  if (slurm.shared.empty() || slurm.data.empty())
    return "--slurm needs --slurm-shared and --slurm-data: the folders of its agents";
  if (std::string wrong = check_times(slurm); !wrong.empty()) return wrong;
  if (slurm.home.empty()) slurm.home = "/tmp/podium-" + std::to_string(::getuid());
  if (slurm.token_file.empty()) slurm.token_file = std::filesystem::absolute(config.agent_token_file);
  OnDemandNodes offered;
  offered.kind = slurm.gpus > 0 ? "gpu" : "cpu";
  offered.devices = slurm.gpus > 0 ? slurm.gpus : slurm.cpu_slots;
  offered.nodes = slurm.nodes;
  offered.labels = {{"slurm-partition", slurm.partition}};
  offered.walltime = longest_job(slurm);
  config.scheduling.on_demand = offered;
  return "";
}

}  // namespace podium
