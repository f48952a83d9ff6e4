#include "coordinator/serving/service_keeper.h"

#include "common/base/logging.h"
#include "common/net/spawn.h"

namespace podium {

ServiceKeeper::ServiceKeeper(boost::asio::any_io_executor executor, CommandLoop& loop, ServiceLimits limits)
    : executor_(std::move(executor)), loop_(loop), limits_(limits) {
  for (const auto& [id, job] : loop.state().jobs) remember(id, job.experiment, job.request);
}

void ServiceKeeper::start(Tell tell) {
  tell_ = std::move(tell);
  tell_replicas();
}

void ServiceKeeper::remember(JobId job, ExperimentId experiment, const JobRequest& request) {
  if (!request.replica) return;
  const std::string& service = request.replica->service;
  replicas_[job] = {service, experiment};
  const auto failed = failures_.find(service);
  if (failed != failures_.end() && failed->second.experiment < experiment) failures_.erase(failed);
}

// A job that has ended is no longer in the state.
void ServiceKeeper::notice(const Events& decided) {
  for (const Event& event : decided) {
    if (const auto* queued = std::get_if<JobQueued>(&event.body))
      remember(queued->job, queued->experiment, queued->request);
    if (const auto* recalled = std::get_if<JobRecalled>(&event.body))
      remember(recalled->job, recalled->experiment, recalled->request);
    const auto* changed = std::get_if<JobStateChanged>(&event.body);
    if (!changed || !is_terminal(changed->to)) continue;
    const auto ended = replicas_.extract(changed->job);
    if (ended.empty() || changed->to != JobState::failed) continue;
    const auto& [service, experiment] = ended.mapped();
    failures_[service] = {changed->job, experiment, changed->reason, event.at};
  }
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

const ReplicaFailure* ServiceKeeper::failure(const std::string& service) const {
  const auto known = failures_.find(service);
  return known == failures_.end() ? nullptr : &known->second;
}

}  // namespace podium
