// The rules about a service: task: serve.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>

#include "common/base/units.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestServiceName = 63;

void check_no_others(const Facts& facts, Problems& problems) {
  for (const char* key : {"command", "data", "training", "parallel", "checkpoint", "evaluate", "target",
                          "mlperf", "scaling", "sweep", "resume", "restarts", "stop"})
    if (const std::string at = std::string("/") + key; facts.has(at))
      problems.add_key(
          at, fmt::format("{} is not for a service, and this spec has task: serve; remove one of the "
                          "two",
                          key));
}

void check_service_name(const Facts& facts, Problems& problems) {
  const auto name = facts.text("/name");
  if (!name) return;
  const bool plain = std::ranges::all_of(
      *name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (*name == "healthz")
    return problems.add("/name", "the name healthz is that of the gateway's own health; choose another");
  if (plain && !name->empty() && name->front() != '-' && name->size() <= kLongestServiceName) return;
  problems.add(
      "/name",
      fmt::format("the name of a service stands in addresses: it has 1 to {} small letters, digits and -, "
                  "and no - first; not \"{}\"",
                  kLongestServiceName, *name));
}

void check_served_model(const Facts& facts, Problems& problems) {
  if (!facts.has("/model/init"))
    problems.add_missing(
        "/model/init",
        "a service needs the key \"model.init\": the folder whose model it serves, or the job");
  check_init(facts, problems);
  check_data(facts, problems);
  if (!facts.has("/model") || !facts.all()["model"].is_object()) return;
  for (const auto& [key, value] : facts.all()["model"].items())
    if (key != "init" && !problems.pointers().contains("/model/" + key))
      problems.add_key("/model/" + key,
                       fmt::format("model.{} follows from what model.init names; remove it", key));
}

void check_replicas(const Facts& facts, Problems& problems) {
  const auto min = facts.integer("/replicas/min"), max = facts.integer("/replicas/max");
  if (min && max && *min > *max)
    problems.add("/replicas/min",
                 fmt::format("replicas.min ({}) must not be above replicas.max ({})", *min, *max));
  const auto devices = facts.integer("/resources/devices");
  if (facts.has("/resources/devices/min") || facts.has("/resources/devices/max") ||
      (devices && *devices != 1))
    problems.add(
        "/resources/devices",
        "resources.devices must be 1: a replica has one device; replicas says how many replicas there "
        "are");
}

}  // namespace

void check_service(const Facts& facts, Problems& problems) {
  if (!facts.has("/resources")) problems.add_missing("/resources", "the spec needs the key \"resources\"");
  check_no_others(facts, problems);
  check_service_name(facts, problems);
  check_labels(facts, problems);
  check_served_model(facts, problems);
  check_replicas(facts, problems);
  check_duration(facts, "/replicas/queue", 1ms, 1h, problems);
  check_duration(facts, "/serve/timeout", 1ms, 1h, problems);
  check_duration(facts, "/serve/max_wait", 0ms, 10s, problems);
  check_layout(facts, problems);
  check_program(facts, problems);
}

}  // namespace podium
