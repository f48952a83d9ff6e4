// podium-agent: one per node. Wires device discovery, supervisor, link and shipper together and runs them on
// one thread.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <string>

#include "agent/device/artificial_devices.h"
#include "agent/device/cpu_slots.h"
#include "agent/device/nvml_probe.h"
#include "agent/device/package_energy.h"
#include "agent/gpu_watch.h"
#include "agent/home.h"
#include "agent/link.h"
#include "agent/node_devices.h"
#include "agent/options.h"
#include "agent/process/copied_home.h"
#include "agent/process/home_id.h"
#include "agent/process/shared_fence.h"
#include "agent/shipper.h"
#include "common/base/boot_clock.h"
#include "common/base/logging.h"
#include "common/base/units.h"
#include "common/net/code_snapshot.h"
#include "common/net/spawn.h"
#include "common/net/token.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto kTellFor =
    5s;  // how long an agent that leaves with its tasks waits for their exits to be heard
constexpr auto kFetchCodeWithin = 60s;

std::vector<Device> find_node_devices(const AgentOptions& options) {
  DeviceProbes probes;
  probes.push_back(std::make_unique<NvmlProbe>());
  probes.push_back(std::make_unique<ArtificialDevices>(options.artificial_gpus));
  probes.push_back(std::make_unique<CpuSlots>(options.cpu_slots, options.threads_per_slot));
  Discovery found = find_devices(probes);
  for (const std::string& note : found.notes) spdlog::info("devices: {}", note);
  // NVML's data take precedence over those of the machine's type.
  const bool measured = std::ranges::any_of(found.devices, [](const Device& d) { return d.island >= 0; });
  if (options.machine && !measured) number_islands(*options.machine, found.devices);
  return std::move(found.devices);
}

NodeDescription describe_node(const AgentOptions& options) {
  NodeDescription node;
  node.id.value = options.name;
  node.address = options.address.empty() ? find_address(options.coordinator) : options.address;
  node.agent_version = PODIUM_VERSION;
  node.key = home_id(options.home);
  node.boot = random_hex(8);
  node.labels = options.labels;
  return node;
}

// nullptr where the node has no GPU to watch.
std::unique_ptr<GpuWatch> watch_gpus(const asio::any_io_executor& executor, NodeDevices& devices,
                                     Supervisor& supervisor, Link& link) {
  const auto is_real = [](const Device& device) { return device.kind == "gpu" && !device.artificial; };
  if (std::ranges::none_of(devices.list(), is_real)) return nullptr;
  auto watch = std::make_unique<GpuWatch>(executor, std::make_unique<GpuMonitor>(kNvmlLibrary),
                                          [&](const GpuLook& look) {
                                            if (devices.take(look, supervisor.gpus_in_use()))
                                              link.report_now();
                                            supervisor.devices_seen();
                                          });
  devices.set_watch([&watch = *watch] { return watch.request_look(); });
  return watch;
}

// One request on a connection of its own, once for each job.
CodeCache::Fetch code_from(const asio::any_io_executor& executor, const CoordinatorConfig& coordinator) {
  return [executor, coordinator](std::string sha256) -> asio::awaitable<std::optional<std::string>> {
    HttpClient client(executor, coordinator.url, ClientOptions{coordinator.ca_file, kMostPackedCode});
    HttpRequest request;
    request.target = "/api/v1/code/" + encode_component(sha256);
    request.headers.set("Authorization", "Bearer " + coordinator.token);
    const HttpResponse response = co_await client.request(std::move(request), kFetchCodeWithin);
    if (response.status == 404) co_return std::nullopt;
    if (response.status != 200)
      throw std::runtime_error("the coordinator answered " + std::to_string(response.status));
    co_return response.body;
  };
}

SupervisorConfig supervisor_config(const AgentOptions& options, const std::string& shared_id) {
  SupervisorConfig config;
  config.home = options.home;
  config.shared = options.shared;
  config.shared_id = shared_id;
  config.data = options.data;
  config.worker = options.worker;
  config.shim = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "podium-shim";
  config.tracking = {options.coordinator.origin(), options.ca_file};
  config.kept_bytes = options.spool_limit;
  config.output_limits = options.output_limits;
  config.staging = {options.inputs, options.inputs_limits, options.data};
  for (char** variable = ::environ; *variable; ++variable) config.environment.emplace_back(*variable);
  return config;
}

std::string agents_token(const std::filesystem::path& file) {
  std::string token = read_token(file);
  if (token.empty()) throw std::runtime_error(file.string() + " holds no token");
  return token;
}

// Waits for SIGTERM or SIGINT, stops the tasks if asked to, and ends the loop.
asio::awaitable<void> leave_on_signal(asio::io_context& loop, asio::signal_set& signals,
                                      Supervisor& supervisor, bool stop_tasks) {
  co_await signals.async_wait(asio::use_awaitable);
  if (stop_tasks) {
    supervisor.stop_all();
    asio::steady_timer pause(loop);
    const auto told_by = [] { return std::chrono::steady_clock::now() + kTellFor; };
    for (auto end = told_by(); supervisor.held() > 0 && std::chrono::steady_clock::now() < end;) {
      if (supervisor.running() > 0) end = told_by();
      pause.expires_after(20ms);
      co_await pause.async_wait(asio::use_awaitable);
    }
  }
  spdlog::info("leaving; {} task(s) stay", supervisor.running());
  supervisor.leave();
  loop.stop();
}

// Gives its machine back where nobody needs it: it has nothing to run or to deliver, and the coordinator says
// nothing for so long.
asio::awaitable<void> leave_when_alone(asio::io_context& loop, const Link& link, const Supervisor& supervisor,
                                       Duration patience) {
  asio::steady_timer pause(loop);
  auto needed = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - needed < patience) {
    if (link.connected() || supervisor.held() > 0) needed = std::chrono::steady_clock::now();
    pause.expires_after(1s);
    co_await pause.async_wait(asio::use_awaitable);
  }
  spdlog::info("no tasks, and no word from the coordinator for {}", format_duration(patience));
  ::raise(SIGTERM);
}

int run(const AgentOptions& options) {
  asio::io_context loop(1);
  // First: a signal during the start is carried out after it.
  asio::signal_set signals(loop, SIGTERM, SIGINT);
  // Says in an allocation that it ends (coordinator/pilots/slurm_commands.cc).
  if (options.join) signals.add(SIGURG);
  Result<Fd> home = take_home(options.home);
  if (!home) {
    spdlog::error("{}", describe(home.errors()));
    return 1;
  }
  if (part_from_original(options.home))
    spdlog::warn(
        "{} is a copy of another home: it gets a key of its own, and the tasks that had not ended when it "
        "was "
        "copied are left to the original",
        options.home.string());
  std::filesystem::create_directories(options.shared);
  NodeDescription node = describe_node(options);
  node.shared = shared_folder_id(options.shared, random_hex(16));
  const CoordinatorConfig coordinator{
      options.coordinator, options.ca_file, agents_token(options.token_file), {options.name}};

  const BootClock clock;
  Link* link = nullptr;  // set below, before the loop runs: the supervisor and its observers need one another
  Shipper* shipper = nullptr;
  NodeDevices devices(find_node_devices(options));
  SupervisorConfig config = supervisor_config(options, node.shared);
  config.address = node.address;
  config.fetch_code = code_from(loop.get_executor(), coordinator);
  Supervisor supervisor(loop.get_executor(), std::move(config), devices, clock, [&] {
    link->report_now();
    shipper->look_now();
  });
  PackageEnergy energy(options.powercap);
  spdlog::info("devices: {}", energy.note());
  Link the_link(loop.get_executor(), coordinator, std::move(node), devices, energy, supervisor);
  Shipper the_shipper(loop.get_executor(), coordinator, supervisor, options.spool_limit, options.log_limit);
  link = &the_link;
  shipper = &the_shipper;

  const std::unique_ptr<GpuWatch> watch = watch_gpus(loop.get_executor(), devices, supervisor, the_link);
  supervisor.adopt();
  spawn(loop.get_executor(), "link", the_link.run());
  spawn(loop.get_executor(), "shipper", the_shipper.run());
  spawn(loop.get_executor(), "signals",
        leave_on_signal(loop, signals, supervisor, options.stop_tasks_on_exit));
  if (options.alone_for)
    spawn(loop.get_executor(), "its loan", leave_when_alone(loop, the_link, supervisor, *options.alone_for));
  spdlog::info("node {} reports to {}", options.name, options.coordinator.origin());
  loop.run();
  if (options.join && supervisor.held() == 0) std::filesystem::remove_all(options.home);
  return 0;
}

}  // namespace
}  // namespace podium

int main(int count, char** arguments) {
  const podium::ParsedOptions parsed = podium::parse_options(count, arguments);
  if (parsed.exit_code) return *parsed.exit_code;
  podium::set_up_logging("podium-agent", parsed.options.log_level);
  try {
    return podium::run(parsed.options);
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return 1;
  }
}
