// The record board: benchmarks with their records, and one with all its runs.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/net/code_snapshot.h"
#include "coordinator/api/benchmarks.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

json classes_json(const std::vector<BoardRun>& runs) {
  json out = json::array();
  for (const BoardClass& each : board_classes(runs)) {
    json records = json::array();
    for (const BoardRecord& record : each.records)
      records.push_back({{"job", record.job.value},
                         {"reached_ms", to_millis(record.reached)},
                         {"seconds", record.seconds},
                         {"improvement", record.improvement ? json(*record.improvement) : json()}});
    out.push_back({{"device", each.device}, {"devices", each.devices}, {"records", std::move(records)}});
  }
  return out;
}

json benchmark_json(const json& identity, const std::vector<BoardRun>& runs) {
  const auto excluded =
      std::ranges::count_if(runs, [](const BoardRun& run) { return !exclusions(run).empty(); });
  return {{"id", benchmark_id(identity)}, {"name", benchmark_name(identity)},
          {"identity", identity},         {"runs", runs.size()},
          {"excluded", excluded},         {"classes", classes_json(runs)}};
}

json run_json(const BoardRunView& view) {
  const BoardRun& run = view.run;
  return {{"job", run.job.value},
          {"experiment", view.experiment.value},
          {"name", view.name},
          {"seconds", run.seconds()},
          {"started_ms", to_millis(run.started)},
          {"reached_ms", to_millis(run.reached)},
          {"devices", run.devices},
          {"device_models", run.device_models},
          {"nodes", view.nodes},
          {"versions", view.versions},
          {"restarts", std::max(0, view.attempts - 1)},
          {"seed", view.seed ? json(*view.seed) : json()},
          {"source", view.source.empty() ? json() : json::parse(view.source)},
          {"file", view.file},
          {"spec_sha256", sha256_of(view.spec)},
          {"reproduces", view.reproduces ? json(view.reproduces->value) : json()},
          {"excluded", exclusions(run)}};
}

json read_list(Reader& reader) {
  json list = json::array();
  for (const auto& [identity, runs] : read_board(reader))
    list.push_back(benchmark_json(json::parse(identity), runs));
  return {{"benchmarks", std::move(list)}};
}

std::optional<json> read_benchmark(Reader& reader, const std::string& id) {
  for (const auto& [text, runs] : read_board(reader)) {
    const json identity = json::parse(text);
    if (benchmark_id(identity) != id) continue;
    json out = benchmark_json(identity, runs);
    out["all"] = json::array();
    for (const BoardRunView& view : reader.board_runs(text)) out["all"].push_back(run_json(view));
    return out;
  }
  return std::nullopt;
}

}  // namespace

Benchmarks read_board(Reader& reader) {
  Benchmarks benchmarks;
  for (BoardRow& row : reader.board()) benchmarks[std::move(row.identity)].push_back(std::move(row.run));
  return benchmarks;
}

awaitable<ServerReply> get_board(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const json body = co_await api.pool.read(read_list);
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_benchmark(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const std::string id = call.path[0];
  const auto query = [id](Reader& reader) { return read_benchmark(reader, id); };
  const std::optional<json> body = co_await api.pool.read(query);
  if (!body) co_return no_such(call, "benchmark", id);
  co_return json_reply(200, *body);
}

}  // namespace podium
