#include "worker/commands/replica.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "common/base/logging.h"
#include "common/model/data_path.h"
#include "common/net/access.h"
#include "worker/checkpoint/folder.h"
#include "worker/comm/single_communicator.h"
#include "worker/commands/replica_metrics.h"
#include "worker/commands/serving.h"
#include "worker/data/failure.h"
#include "worker/train/first_source.h"
#include "worker/train/folder_origin.h"
#include "worker/train/pinned_origin.h"

namespace podium {
namespace {

constexpr Duration kTimeToEnd =
    std::chrono::seconds(5);  // of the launch's grace, after the last answer is due

HostPort address_of(const Launch& launch) {
  return {launch.master_address, static_cast<std::uint16_t>(launch.master_port)};
}

void check_replica(const Launch& launch) {
  if (launch.world_size != 1) refuse_spec("a replica of a service is one process with one device");
  if (launch.secret.empty() && !is_loopback(address_of(launch)))
    refuse_spec("a replica at " + launch.master_address +
                " needs the attempt's secret, by which it knows who may ask");
  if (leads_out_of_folder(launch.spec.model.init))
    refuse_spec("the path " + launch.spec.model.init + " leads out of the data folder, in which it begins");
  if (launch.spec.model.init_job && launch.init_folder.empty())
    refuse_spec(
        "\"model.init\" names a job of a cluster: submit the spec to its coordinator, or write the path of a "
        "model");
}

// With where it came from, which may have been written down by an earlier attempt.
std::pair<FirstSource, Origin> find_model_of(const Launch& launch, EventLog& events) {
  SingleCommunicator alone;
  const auto pinned = pinned_origin(launch.checkpoint_folder, alone);
  FirstSource source = find_first_source(launch, pinned, alone);
  for (const std::string& warning : source.warnings) {
    spdlog::warn("{}", warning);
    events.note("warning", warning);
  }
  const Origin origin = pinned ? *pinned : source.checkpoint ? source.origin() : folder_origin(source.path);
  if (!pinned) pin_origin(launch.checkpoint_folder, origin);
  return {std::move(source), origin};
}

ServingArguments serving_of(const Launch& launch) {
  ServingArguments serving;
  serving.beside.data = launch.data_folder;
  serving.compute = {launch.spec.serve->precision, launch.device_kind == "gpu", launch.threads};
  return serving;
}

ServerSettings settings_of_replica(const Launch& launch, const std::filesystem::path& model,
                                   const std::atomic<bool>& stop) {
  ServerSettings settings = server_settings(*launch.spec.serve);
  settings.http.listen = address_of(launch);
  settings.api.token = launch.secret;
  settings.api.check_host = is_loopback(settings.http.listen);
  settings.models = {{launch.spec.name, model}};
  settings.grace = std::max(Duration(0), launch.grace - kTimeToEnd);
  settings.stop = &stop;
  return settings;
}

// A full disk must not end a server that answers.
template <class Tell>
void try_to(const Tell& tell) {
  try {
    tell();
  } catch (const Failure& failure) {
    spdlog::error("{}", failure.what());
  }
}

}  // namespace

WorkerExit serve_replica(const Launch& launch, EventLog& events, const std::atomic<bool>& stop) {
  check_replica(launch);
  events.write(PhaseEvent{WorkerPhase::loading, {}});
  const CheckpointFolder folder(launch.checkpoint_folder, true);  // which no other attempt may use
  const auto [source, origin] = find_model_of(launch, events);
  const ServingArguments serving = serving_of(launch);
  const std::string what = describe(origin);
  std::string where;
  ReplicaMetrics metrics;
  const ServerEvents telling{.listening = [&](const std::string& address) { where = address; },
                             .ready =
                                 [&] {
                                   try_to([&] {
                                     events.write(PhaseEvent{WorkerPhase::stepping, {}});
                                     events.note("info", fmt::format("serves {} at {}", what, where));
                                   });
                                 },
                             .load =
                                 [&](const std::map<std::string, LoadFigures>& loads) {
                                   const auto event =
                                       metrics.of(loads.at(launch.spec.name), SystemClock().now());
                                   if (event) try_to([&] { events.write(*event); });
                                 }};
  serve(
      settings_of_replica(launch, source.path, stop),
      [serving](const std::filesystem::path& model) { return load_served_model(serving, model); }, telling);
  try_to([&] { events.write(FinishedEvent{0, "preempted"}); });
  return WorkerExit::saved;
}

}  // namespace podium
