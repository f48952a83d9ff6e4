// Keeps services going: hears from the gateway once a second how their replicas do, runs what services.h
// decides, and tells the gateway which replicas there are. On the loop's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/loop/command_loop.h"
#include "coordinator/serving/replica.h"
#include "coordinator/serving/replica_failures.h"
#include "coordinator/serving/services.h"

namespace podium {

class ServiceKeeper {
 public:
  using Tell = std::function<void(std::vector<ReplicaPlace>, std::vector<std::string> services)>;

  // The loop must outlive it.
  ServiceKeeper(boost::asio::any_io_executor executor, CommandLoop& loop, ServiceLimits limits = {});

  // From now on `tell` hears of every change of the replicas that may be asked; Gateway::set_replicas.
  void start(Tell tell);
  void notice(const Events& decided) { failures_.notice(decided); }
  void follow(const Events& committed);
  void take(ReplicasHealth health);

  // Valid until the caller suspends.
  std::vector<ServiceStand> services() const { return services_of(loop_.state(), health_); }
  std::optional<Time> ready_since(AttemptId attempt) const;
  // "": it is ready or does not run.
  std::string why_unready(const ReplicaStand& replica) const;
  const ReplicaFailure* failure(const std::string& service) const { return failures_.find(service); }

 private:
  void tell_replicas();
  boost::asio::awaitable<void> run(std::vector<Command> commands);

  boost::asio::any_io_executor executor_;
  CommandLoop& loop_;
  ServiceLimits limits_;
  Tell tell_;
  ReplicasHealth health_;
  ServiceMemory memory_;
  ReplicaFailures failures_;
  bool running_ = false;  // commands, which the disk may delay
  std::vector<AttemptId> told_attempts_;
  std::vector<std::string> told_services_;
};

}  // namespace podium
