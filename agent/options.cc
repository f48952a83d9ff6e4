#include "agent/options.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "agent/pilot/allocation.h"
#include "agent/pilot/pilot_home.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "common/model/node.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kFooter[] = R"(
Examples:
  podium-agent --name node-1 --coordinator http://127.0.0.1:7070 --token-file agent.token \
               --home /var/lib/podium/agent --shared /mnt/podium --data /mnt/corpora
  podium-agent --name big --coordinator https://podium.example:7070 --ca-file ca.pem --token-file agent.token \
               --home /var/lib/podium/agent --shared /mnt/podium --data /mnt/corpora --label rack=r1
  podium-agent --name made-up --token-file agent.token --home /tmp/agent --shared /tmp/shared --data /tmp/data \
               --machine dgx-h100 --artificial-gpus 8 --label switch=leaf-1 --label spine=spine-1

  srun podium-agent --join --coordinator https://podium.example:7070 --token-file agent.token \
               --home /tmp/podium --shared /mnt/podium --data /mnt/corpora

SIGTERM ends the agent and leaves its tasks running: the next agent with the same --home takes them up again.
With --stop-tasks-on-exit it stops them first, and waits for each as long as its job's stop.grace says: under systemd set TimeoutStopSec
beyond that, and without this option KillMode=process.)";

// The options as typed, not yet parsed.
struct RawOptions {
  std::string coordinator = "http://127.0.0.1:7070";
  std::vector<std::string> labels;
  std::string machine;
  std::string spool_limit = "1GiB";
  std::string log_limit = "64MB";
  std::string inputs_limit = "100GiB";
  std::string inputs_keep = "7d";
  std::string outputs_limit = "10GiB";
};

std::string check_join_time(const std::string& text) {
  return parse_duration(text) ? "" : "\"" + text + "\" is not a duration; write it like 90s or 2h30m";
}

// What an allocation says of this node.
Errors join_allocation(AgentOptions& options) {
  const auto variable = [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  Result<Pilot> pilot = find_pilot(variable, SystemClock().now(), options.lent_for);
  if (!pilot) return pilot.errors();
  options.home = fs::absolute(options.home);
  if (Errors errors = make_pilot_homes(options.home); !errors.empty()) return errors;
  options.name = pilot->name;
  options.home /= pilot->name;
  options.labels.insert(pilot->labels.begin(), pilot->labels.end());
  options.stop_tasks_on_exit = true;
  return {};
}

void describe_options(CLI::App& app, AgentOptions& options, RawOptions& raw) {
  auto* const name = app.add_option("--name", options.name, "The node's name, unique in the cluster");
  auto* const join =
      app.add_flag("--join", options.join,
                   "In an allocation of Slurm, started by srun: takes its name from there, keeps its home "
                   "below --home, and leaves with its tasks on SIGTERM or SIGURG")
          ->excludes(name);
  const auto with_join = [&](const char* option, std::optional<Duration>& value, const char* help) {
    app.add_option_function<std::string>(
           option, [&value](const std::string& text) { value = parse_duration(text); }, help)
        ->check(CLI::Validator(check_join_time, "DURATION"))
        ->needs(join);
  };
  with_join("--lent-for", options.lent_for,
            "With --join: how long the allocation lasts from now on; only jobs that end before start there");
  with_join("--alone-for", options.alone_for,
            "With --join: how long to stay without tasks and without word from the coordinator");
  app.add_option("--coordinator", raw.coordinator, "The coordinator's address")->capture_default_str();
  app.add_option("--token-file", options.token_file, "File that holds the agents' token")->required();
  app.add_option("--ca-file", options.ca_file,
                 "PEM of the authority that signed the coordinator's certificate");
  app.add_option("--home", options.home, "Folder of this agent's own, on a local disk")->required();
  app.add_option("--shared", options.shared, "Folder that is the same on all nodes; checkpoints go there")
      ->required();
  app.add_option("--data", options.data, "Folder where relative data paths of specs begin")->required();
  app.add_option("--worker", options.worker,
                 "The training program (default: podium-worker beside this program)");
  app.add_option("--cpu-slots", options.cpu_slots, "CPU devices to offer")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--threads-per-slot", options.threads_per_slot,
                 "Threads of each slot (default: the machine's, divided evenly)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--artificial-gpus", options.artificial_gpus, "Made-up GPUs to offer, to try schedules")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--powercap", options.powercap, "Folder of the kernel's counters of the processors' energy")
      ->capture_default_str();
  app.add_option("--address", options.address,
                 "Where other nodes reach this one (default: the address of the route to the coordinator)");
  app.add_option("--machine", raw.machine,
                 "Which known machine this is: sets the label kind and its GPUs' NVLink islands")
      ->check(CLI::IsMember(node_preset_names()));
  app.add_option("--label", raw.labels, "KEY=VALUE for the node; may be repeated");
  app.add_option("--spool-limit", raw.spool_limit,
                 "Most bytes of ended tasks' files that wait for delivery, and as many that stay after it")
      ->capture_default_str();
  app.add_option("--log-limit", raw.log_limit,
                 "How much of a task's stdout or stderr stays on disk: its beginning and its end")
      ->capture_default_str();
  app.add_option("--inputs", options.inputs,
                 "Folder on a local disk where inputs of jobs are staged (default: inputs in the home)");
  app.add_option("--inputs-limit", raw.inputs_limit,
                 "Most bytes of staged inputs; the longest unused go first")
      ->capture_default_str();
  app.add_option("--inputs-keep", raw.inputs_keep, "How long a staged input stays that no task uses")
      ->capture_default_str();
  app.add_option("--outputs-limit", raw.outputs_limit,
                 "Most bytes of the outputs of one task that are collected")
      ->capture_default_str();
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning, error or off")
      ->default_val("info")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}));
  app.add_flag("--stop-tasks-on-exit", options.stop_tasks_on_exit, "Stop the node's tasks before leaving");
  app.footer(kFooter);
}

// Reads what CLI11 has left as text.
Errors interpret(const RawOptions& raw, AgentOptions& options) {
  Errors errors;
  const Result<Url> url = parse_url(raw.coordinator);
  if (url)
    options.coordinator = *url;
  else
    errors.push_back({ErrorCode::invalid, describe(url.errors()), "--coordinator"});
  for (const std::string& label : raw.labels) {
    const std::size_t equals = label.find('=');
    if (equals == 0 || equals == std::string::npos)
      errors.push_back({ErrorCode::invalid, "\"" + label + "\" must be KEY=VALUE", "--label"});
    else if (!is_label_text(label.substr(0, equals)) || !is_label_text(label.substr(equals + 1)))
      errors.push_back({ErrorCode::invalid,
                        "the key and the value of \"" + label + "\" " + std::string(kLabelRule), "--label"});
    else
      options.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  options.machine = find_node_preset(raw.machine);
  if (options.machine) add_labels(*options.machine, options.labels);
  const auto read_size = [&errors](const std::string& text, std::int64_t& size, const char* option) {
    const auto parsed = parse_size(text);
    if (parsed)
      size = *parsed;
    else
      errors.push_back({ErrorCode::invalid, "\"" + text + "\" must be a size such as 512MB", option});
  };
  read_size(raw.spool_limit, options.spool_limit, "--spool-limit");
  read_size(raw.log_limit, options.log_limit, "--log-limit");
  read_size(raw.inputs_limit, options.inputs_limits.bytes, "--inputs-limit");
  read_size(raw.outputs_limit, options.output_limits.bytes, "--outputs-limit");
  if (const auto keep = parse_duration(raw.inputs_keep))
    options.inputs_limits.keep = std::chrono::floor<std::chrono::seconds>(*keep);
  else
    errors.push_back({ErrorCode::invalid, "\"" + raw.inputs_keep + "\" must be a time such as 7d or 12h",
                      "--inputs-keep"});
  return errors;
}

}  // namespace

ParsedOptions parse_options(int count, char** arguments) {
  ParsedOptions parsed;
  RawOptions raw;
  CLI::App app{"Runs the tasks a Podium coordinator gives to this node.", "podium-agent"};
  describe_options(app, parsed.options, raw);
  app.set_version_flag("--version", "podium-agent " PODIUM_VERSION);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 64;
    return parsed;
  }
  Errors errors = interpret(raw, parsed.options);
  Errors wrong = parsed.options.join ? join_allocation(parsed.options) : Errors{};
  if (wrong.empty()) wrong = settle(parsed.options);
  errors.insert(errors.end(), wrong.begin(), wrong.end());
  if (!errors.empty()) {
    std::cerr << "podium-agent: " << describe(errors) << "\n";
    parsed.exit_code = 64;
  }
  return parsed;
}

Errors settle(AgentOptions& options) {
  Errors errors;
  if (!is_node_name(options.name))
    errors.push_back({ErrorCode::invalid, std::string(kNodeNameRule), "--name"});
  if (options.worker.empty())
    options.worker = fs::read_symlink("/proc/self/exe").parent_path() / "podium-worker";
  if (options.inputs.empty()) options.inputs = options.home / "inputs";
  for (fs::path* path : {&options.home, &options.shared, &options.data, &options.worker, &options.inputs})
    *path = fs::absolute(*path);
  if (!fs::is_directory(options.data))
    errors.push_back(
        {ErrorCode::not_found, options.data.string() + " is not a folder; create it first", "--data"});
  if (!fs::is_regular_file(options.token_file))
    errors.push_back(
        {ErrorCode::not_found,
         options.token_file.string() + " is not a file; copy the coordinator's agent token there",
         "--token-file"});
  return errors;
}

std::string find_address(const Url& coordinator) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(coordinator.port);
  if (const int error = ::getaddrinfo(coordinator.host.c_str(), port.c_str(), &hints, &list); error != 0)
    throw std::runtime_error("cannot resolve " + coordinator.host + ": " + ::gai_strerror(error) +
                             "; give --address");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);
  const Fd fd(::socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  // Connecting a datagram socket sends nothing; it only chooses the route.
  if (!fd || ::connect(fd.get(), list->ai_addr, list->ai_addrlen) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    throw std::system_error(
        errno, std::generic_category(),
        "cannot find this node's own address towards " + coordinator.host + "; give --address");
  return text.data();
}

}  // namespace podium
