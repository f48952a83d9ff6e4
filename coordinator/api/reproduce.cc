// POST /jobs/{job}/reproduce: submits the job's spec and code once more, exactly, and says what differs from
// then.
#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "common/model/reproduces.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/submit.h"

namespace podium {
namespace {

using nlohmann::json;

struct Original {
  Submission submission;
  std::string kind;
  ComparedJob then;
};

// model.init of exactly that checkpoint, which may be the best and the newest no more.
json init_again(json init, const Origin& origin) {
  if (init.is_string()) init = {{"path", std::move(init)}};
  if (init.contains("job")) {
    init["checkpoint"] = origin.step;
  } else {  // a checkpoint, or the folder of it
    const std::string name = std::filesystem::path(origin.path).filename();
    const auto written = std::filesystem::path(init.at("path").get<std::string>() + "/").lexically_normal();
    if (written.parent_path().filename() != name) init["path"] = (written / name).string();
  }
  init["xxh3"] = origin.xxh3;
  return init;
}

// Makes it the spec of a single job, which waits for those of the jobs that it waited for that still live.
std::string spec_again(const std::string& written, const std::optional<Origin>& origin, Reader& reader) {
  json spec = json::parse(written);
  json after = json::array();
  for (const json& on : spec.value("after", json::array())) {
    const std::optional<JobView> job = reader.job(JobId{on.at("job").get<std::int64_t>()});
    if (job && !is_terminal(job->state)) after.push_back(on);
  }
  spec.erase("after");
  if (!after.empty()) spec["after"] = std::move(after);
  const json::json_pointer init("/model/init");
  if (origin && spec.contains(init)) spec.at(init) = init_again(spec.at(init), *origin);
  spec["labels"].erase(kReproduces);
  return spec.dump(2);
}

std::optional<Original> read_original(Reader& reader, JobId id, Time now) {
  const std::optional<JobView> job = reader.job(id);
  if (!job || job->tracked) return std::nullopt;
  const ExperimentView experiment = reader.experiment(job->experiment).value();
  Original original{{}, job->request.kind, reader.compared(*job, {{}, now})};
  original.submission.spec = spec_again(reader.job_spec(id).value(), original.then.origin, reader);
  original.submission.reproduces = id;
  original.submission.file = experiment.file;
  original.submission.source = experiment.source;
  return original;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// Plain sentences. Whatever they leave out is the same, or is not recorded, as the contents of data folders.
std::vector<std::string> differences(const Original& original, const ClusterState& state) {
  const ComparedJob& then = original.then;
  std::set<std::string> models, versions;
  for (const auto& [id, node] : state.nodes) {
    bool has_kind = false;
    for (const Device& device : node.description.devices) {
      if (device.kind != original.kind) continue;
      has_kind = true;
      models.insert(device.model);
    }
    if (has_kind) versions.insert(node.description.agent_version);
  }
  const std::set<std::string> models_then(then.device_models.begin(), then.device_models.end());
  const std::set<std::string> versions_then(then.agent_versions.begin(), then.agent_versions.end());
  std::vector<std::string> out;
  if (then.devices == 0)
    out.push_back("the original never ran");
  else if (models != models_then)
    out.push_back(fmt::format("the original ran on {}; the cluster has these {} devices now: {}",
                              listed(models_then), original.kind, listed(models)));
  if (then.devices > 0 && versions != versions_then)
    out.push_back(fmt::format("the original ran under podium {}; the nodes have {} now",
                              listed(versions_then), listed(versions)));
  if (then.source.is_object() && then.source.value("dirty", false))
    out.push_back("the original was submitted with uncommitted changes; its spec is repeated as it was then");
  return out;
}

}  // namespace

awaitable<ServerReply> post_reproduce(Api& api, Call call) {
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  if (auto refusal = refuse_body(call)) co_return std::move(*refusal);
  const Result<std::string> key = idempotency_key(call);
  if (!key) co_return bad_request(call, key.errors());
  const Time now = api.loop.now();
  std::optional<Original> original =
      co_await api.pool.read([id, now](Reader& reader) { return read_original(reader, *id, now); });
  if (!original) co_return no_such(call, "job with a spec, as tracked runs have none,", call.path[0]);
  const Result<Accepted> accepted = co_await submit_experiment(api, original->submission, *key);
  if (!accepted) co_return problem(accepted.errors(), call.request.id);
  const ExperimentId experiment = accepted->experiment;
  const ExperimentView made =
      co_await api.pool.read([experiment](Reader& reader) { return reader.experiment(experiment).value(); });
  const std::optional<json> job = co_await read_job(api, made.jobs.front());
  co_return json_reply(
      accepted->fresh ? 201 : 200,
      {{"reproduces", id->value}, {"job", *job}, {"differences", differences(*original, api.loop.state())}});
}

}  // namespace podium
