#include "coordinator/api/job_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"

namespace podium {

using nlohmann::json;

namespace {
constexpr std::size_t kMostJobsAsked = 50;
}

std::vector<JobId> jobs_asked(Query& query) {
  std::vector<JobId> jobs;
  for (const std::string& text : query.all("job")) {
    const std::optional<std::int64_t> number = parse_integer(text);
    if (!number || *number < 1)
      query.refuse("job", "must be the number of a job, not \"" + text.substr(0, 100) + "\"");
    else if (std::ranges::find(jobs, JobId{*number}) != jobs.end())
      query.refuse("job", "names job " + text + " twice");
    else
      jobs.push_back({*number});
  }
  if (query.all("job").empty()) query.refuse("job", "is missing: name at least one job");
  if (jobs.size() > kMostJobsAsked) query.refuse("job", "is given more than 50 times");
  return jobs;
}

std::vector<UnknownName> unknown_names(Reader& reader, const JobFilter& filter) {
  const auto any = [&reader](const JobFilter& wanted) { return reader.jobs(wanted).total > 0; };
  std::vector<UnknownName> unknown;
  if (filter.experiment && !reader.experiment(*filter.experiment))
    unknown.push_back({"experiment", to_string(*filter.experiment) + " is the number of no experiment"});
  if (!filter.experiment_name.empty() && !any({.experiment_name = filter.experiment_name, .limit = 1}))
    unknown.push_back({"experiment_name", "\"" + filter.experiment_name + "\" is the name of no experiment"});
  if (!filter.account.empty() && !any({.account = filter.account, .limit = 1}))
    unknown.push_back({"account", "\"" + filter.account + "\" is no account"});
  return unknown;
}

awaitable<json> jobs_json(Api& api, std::vector<JobView> jobs, std::int64_t revision) {
  json out = json::array();
  for (const JobView& job : jobs) out.push_back(job_json(job, api.loop, revision));
  co_await api.loop.durable();
  co_return out;
}

awaitable<std::optional<json>> read_job(Api& api, JobId job) {
  const std::int64_t revision = api.live.take_id();
  const std::optional<JobView> view =
      co_await api.pool.read([job](Reader& reader) { return reader.job(job); });
  if (!view) co_return std::nullopt;
  json out = job_json(*view, api.loop, revision);
  co_await api.loop.durable();
  co_return out;
}

}  // namespace podium
