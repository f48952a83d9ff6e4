#include "coordinator/serving/service_keeper.h"

#include "common/base/logging.h"
#include "common/net/spawn.h"
#include "coordinator/serving/restarts.h"

namespace podium {

ServiceKeeper::ServiceKeeper(boost::asio::any_io_executor executor, CommandLoop& loop, ServiceLimits limits)
    : executor_(std::move(executor)), loop_(loop), limits_(limits), failures_(loop.state()) {}

void ServiceKeeper::start(Tell tell) {
  tell_ = std::move(tell);
  tell_replicas();
}

void ServiceKeeper::follow(const Events& committed) {
  if (!tell_) return;
  for (const Event& event : committed)
    if (std::holds_alternative<JobStateChanged>(event.body) ||
        std::holds_alternative<AttemptStopping>(event.body) || std::holds_alternative<JobQueued>(event.body))
      return tell_replicas();
}

void ServiceKeeper::tell_replicas() {
  std::vector<ReplicaPlace> places;
  std::vector<AttemptId> attempts;
  std::vector<std::string> names;
  for (const ServiceStand& service : services()) {
    names.push_back(service.name);
    for (const auto* replicas : {&service.own, &service.earlier})
      for (const ReplicaStand& replica : *replicas) {
        if (!replica.runs()) continue;
        const AttemptId attempt = replica.job->attempt_id();
        const Allocation& at = replica.job->attempt->allocation;
        attempts.push_back(attempt);
        places.push_back({attempt,
                          service.name,
                          {at.master_address, static_cast<std::uint16_t>(at.master_port)},
                          loop_.secret(attempt)});
      }
  }
  if (attempts == told_attempts_ && names == told_services_) return;
  told_attempts_ = attempts;
  told_services_ = names;
  tell_(std::move(places), std::move(names));
}

void ServiceKeeper::take(ReplicasHealth health) {
  health_ = std::move(health);
  if (running_) return;
  std::vector<Command> commands = steps(loop_.state(), health_, memory_, limits_, loop_.now());
  if (commands.empty()) return;
  running_ = true;
  spawn(executor_, "the steps of services", run(std::move(commands)));
}

boost::asio::awaitable<void> ServiceKeeper::run(std::vector<Command> commands) {
  try {
    const std::vector<Errors> refused = co_await loop_.run_each(std::move(commands));
    for (const Errors& errors : refused)
      if (!errors.empty()) spdlog::warn("a step of a service was not taken: {}", describe(errors));
  } catch (const NotDurable& error) {
    spdlog::warn("a step of a service is taken once the disk takes it: {}", error.what());
  }
  running_ = false;
}

std::optional<Time> ServiceKeeper::ready_since(AttemptId attempt) const {
  const auto seen = memory_.attempts.find(attempt);
  return seen == memory_.attempts.end() ? std::nullopt : seen->second.ready_since;
}

std::string ServiceKeeper::why_unready(const ReplicaStand& replica) const {
  return podium::why_unready(replica, memory_, limits_, loop_.now());
}

}  // namespace podium
