#include <nlohmann/json.hpp>

#include "common/model/serve_spec.h"
#include "coordinator/api/published.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/study_view.h"

namespace podium {
namespace {

using nlohmann::json;

struct StudyFound {
  std::optional<json> study;
  std::string why_none = {};  // of an experiment that is no study
};

StudyFound read_study(Reader& reader, ExperimentId id, Time now) {
  const std::optional<StudyView> study = reader.study(id);
  if (study) return {study_details_json(reader, *study, now)};
  const auto experiment = reader.experiment(id);
  if (!experiment) return {};
  if (!experiment->listed) return {std::nullopt, "has one job"};
  const auto first = json::parse(reader.job_spec(experiment->jobs.front()).value_or("{}"));
  return {std::nullopt, first.value("task", "") == kServeTask ? "is a service" : "lists its jobs"};
}

}  // namespace

awaitable<ServerReply> get_studies(Api& api, Call call) {
  const int limit = static_cast<int>(call.query.integer_or("limit", 100, 1, 1000));
  const std::optional<std::int64_t> token = call.query.integer("page_token", 1, INT64_MAX);
  if (!call.query.problems().empty()) co_return bad_query(call);
  std::optional<ExperimentId> before;
  if (token) before = ExperimentId{*token};
  const auto query = [limit, before](Reader& reader) {
    // One more than asked for tells whether there is a next page.
    std::vector<StudyView> page = reader.studies(limit + 1, before);
    const bool more = page.size() > static_cast<std::size_t>(limit);
    if (more) page.resize(static_cast<std::size_t>(limit));
    json list = json::array();
    for (const StudyView& study : page) list.push_back(study_json(study));
    json body{{"studies", std::move(list)}};
    if (more) body["next_page_token"] = to_string(page.back().experiment.id);
    return body;
  };
  const json body = co_await api.pool.read(query);
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_study(Api& api, Call call) {
  const std::optional<std::string> benchmark = call.query.text("published");
  const std::optional<json> rows = benchmark ? published_rows(api, *benchmark) : json::array();
  if (!rows) call.query.refuse("published", no_benchmark(api, *benchmark));
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<ExperimentId>(call.path[0]);
  if (!id) co_return no_such(call, "study", call.path[0]);
  const Time now = api.loop.now();
  StudyFound found =
      co_await api.pool.read([id, now](Reader& reader) { return read_study(reader, *id, now); });
  if (!found.study && !found.why_none.empty())
    co_return problem(404, "experiment " + call.path[0] + " " + found.why_none + " and is no study",
                      call.request.id);
  if (!found.study) co_return no_such(call, "study", call.path[0]);
  (*found.study)["published"] = *rows;
  co_return json_reply(200, *found.study);
}

}  // namespace podium
