#include "coordinator/tracking/comparison.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "coordinator/api/job_costs.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFields = 2000;  // rows of one answer
constexpr std::size_t kMostKeys = 500;     // metrics that are listed
constexpr std::size_t kMostPatterns = 64;
constexpr std::size_t kMostOutcomes = 200;

struct Asked {
  std::vector<JobId> jobs;
  std::optional<JobId> base;
  std::vector<std::string> metrics;
  bool all = false;
};

Asked read_asked(Query& query) {
  Asked asked;
  asked.jobs = jobs_asked(query);
  if (const auto base = query.integer("base", 1, INT64_MAX)) {
    asked.base = JobId{*base};
    if (std::ranges::find(asked.jobs, *asked.base) == asked.jobs.end())
      query.refuse("base", "must be one of the jobs");
  }
  asked.metrics = query.all("metric");
  if (asked.metrics.size() > kMostPatterns) query.refuse("metric", "is given more than 64 times");
  asked.all = query.integer_or("all", 0, 0, 1) == 1;
  return asked;
}

struct Read {
  std::vector<JobView> views;
  std::vector<ComparedJob> jobs;
  std::vector<JobId> missing;
};

ComparedJob read_compared(Reader& reader, const JobView& view, const ComparisonQuery& query,
                          const Prices& prices) {
  ComparedJob job = reader.compared(view, query);
  if (prices.empty() && !reader.has_energy(view.id)) return job;  // a long ledger takes its time
  const JobCosts costs = costs_of(reader, view, make_ledger(reader.ledger(view.id), query.now), prices);
  if (costs.energy && costs.energy->covered >= kEnoughCovered) job.joules = costs.energy->all.joules;
  if (costs.energy) job.joules_to_target = costs.energy->to_target;
  if (costs.cost) job.cost = costs.cost->all.amount;
  if (costs.cost) job.cost_to_target = costs.cost->to_target;
  return job;
}

Read read_compared(Reader& reader, const Asked& asked, const Prices& prices, Time now) {
  Read read;
  for (const JobId id : asked.jobs) {
    if (std::optional<JobView> view = reader.job(id))
      read.views.push_back(std::move(*view));
    else
      read.missing.push_back(id);
  }
  ComparisonQuery query{asked.metrics, now};
  if (query.metrics.empty()) {
    query.metrics = {"eval/*"};
    for (const JobView& view : read.views)
      if (view.target) query.metrics.push_back(view.target->metric);
  }
  for (const JobView& view : read.views) read.jobs.push_back(read_compared(reader, view, query, prices));
  return read;
}

json ids_json(const std::vector<JobId>& ids) {
  json out = json::array();
  for (const JobId id : ids) out.push_back(id.value);
  return out;
}

json field_json(const ComparedField& field) {
  return {{"section", to_string(field.section)},
          {"key", field.key},
          {"differs", field.differs},
          {"values", field.values}};
}

json numbers_json(const std::vector<std::optional<double>>& numbers) {
  json out = json::array();
  for (const auto& number : numbers) out.push_back(number ? number_to_json(*number) : json(nullptr));
  return out;
}

json outcome_json(const Outcome& outcome) {
  json steps = json::array();
  for (const auto& step : outcome.steps) steps.push_back(step ? json(*step) : json(nullptr));
  const auto& direction = outcome.direction;
  return {{"measure", to_string(outcome.measure)},
          {"metric", outcome.metric},
          {"better", direction ? json(to_string(direction->better)) : json(nullptr)},
          {"better_by", direction ? json(to_string(direction->by)) : json(nullptr)},
          {"values", numbers_json(outcome.values)},
          {"steps", std::move(steps)},
          {"differences", numbers_json(outcome.differences)},
          {"best", ids_json(outcome.best)}};
}

json keys_json(const std::vector<ComparedJob>& jobs) {
  std::map<std::string, json> having;
  for (const ComparedJob& job : jobs)
    for (const std::string& key : job.keys) having[key].push_back(job.id.value);
  json out = json::array();
  for (auto& [key, ids] : having) {
    if (out.size() == kMostKeys) break;
    out.push_back({{"key", key}, {"jobs", std::move(ids)}});
  }
  return out;
}

// The jobs are left out: only the loop's thread knows their reasons.
json comparison_json(const Read& read, const Asked& asked, const Prices& prices) {
  std::size_t base = 0;
  for (std::size_t i = 0; i < read.jobs.size(); ++i)
    if (read.jobs[i].id == asked.base) base = i;
  const Comparison comparison = compare(read.jobs, base);
  json fields = json::array(), outcomes = json::array(), sources = json::array(), artificial = json::array();
  std::size_t differing = 0, left_out = 0;
  for (const ComparedField& field : comparison.fields) differing += field.differs ? 1 : 0;
  // Where there is no room for all, rows that differ go first.
  std::size_t room = std::min(kMostFields, differing), room_for_alike = asked.all ? kMostFields - room : 0;
  for (const ComparedField& field : comparison.fields) {
    if (!field.differs && !asked.all) continue;
    std::size_t& left = field.differs ? room : room_for_alike;
    if (left == 0) {
      ++left_out;
      continue;
    }
    --left;
    fields.push_back(field_json(field));
  }
  for (const Outcome& outcome : comparison.outcomes)
    if (outcomes.size() < kMostOutcomes || outcome.metric.empty()) outcomes.push_back(outcome_json(outcome));
  for (const ComparedJob& job : read.jobs) {
    sources.push_back(job.source);
    if (job.artificial) artificial.push_back(job.id.value);
  }
  return {{"base", read.jobs[base].id.value}, {"missing", ids_json(read.missing)},
          {"sources", std::move(sources)},    {"artificial", std::move(artificial)},
          {"fields", std::move(fields)},      {"same", comparison.fields.size() - differing},
          {"differing", differing},           {"left_out", left_out},
          {"outcomes", std::move(outcomes)},  {"metrics", keys_json(read.jobs)},
          {"currency", prices.currency}};
}

struct Answer {
  std::vector<JobView> views;
  json body;
};

}  // namespace

awaitable<ServerReply> get_comparison(Api& api, Call call) {
  const Asked asked = read_asked(call.query);
  if (!call.query.problems().empty()) co_return bad_query(call);
  const std::int64_t revision = api.live.take_id();
  const auto query = [asked, &prices = api.options.prices, now = api.loop.now()](Reader& reader) {
    Read read = read_compared(reader, asked, prices, now);
    json body = read.jobs.empty() ? json() : comparison_json(read, asked, prices);
    return Answer{std::move(read.views), std::move(body)};
  };
  Answer answer = co_await api.pool.read(query);
  if (answer.views.empty()) co_return no_such(call, "job", to_string(asked.jobs.front()));
  answer.body["jobs"] = co_await jobs_json(api, std::move(answer.views), revision);
  co_return json_reply(200, answer.body);
}

}  // namespace podium
