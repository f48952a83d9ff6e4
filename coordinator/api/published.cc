#include "coordinator/api/published.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/spec/suggest.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

std::set<std::string> benchmarks(const Api& api) {
  std::set<std::string> names;
  for (const PublishedRow& row : api.options.published) names.insert(row.benchmark);
  return names;
}

}  // namespace

std::optional<json> published_rows(const Api& api, const std::string& benchmark) {
  json rows = json::array();
  for (const PublishedRow& row : api.options.published)
    if (benchmark.empty() || row.benchmark == benchmark) rows.push_back(to_json(row));
  return rows.empty() && !benchmark.empty() ? std::nullopt : std::optional(std::move(rows));
}

std::string no_benchmark(const Api& api, const std::string& benchmark) {
  const std::set<std::string> names = benchmarks(api);
  const auto near = closest(benchmark, std::vector<std::string>(names.begin(), names.end()));
  return "names no benchmark of which there are published rows" +
         (near ? "; did you mean \"" + *near + "\"?" : fmt::format("; there are {}", fmt::join(names, ", ")));
}

awaitable<ServerReply> get_published(Api& api, Call call) {
  const std::string benchmark = call.query.text("benchmark").value_or("");
  const std::optional<json> rows = published_rows(api, benchmark);
  if (!rows) call.query.refuse("benchmark", no_benchmark(api, benchmark));
  if (!call.query.problems().empty()) co_return bad_query(call);
  co_return json_reply(200, {{"published", *rows}});
}

}  // namespace podium
