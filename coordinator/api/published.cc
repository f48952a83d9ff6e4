#include "coordinator/api/published.h"

#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/file.h"
#include "common/spec/json_body.h"
#include "common/spec/suggest.h"
#include "coordinator/api/published_imports.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr const char* kLockOfImports = "published rows";  // a key of Api::keys

std::vector<PublishedRow> all_rows(const Api& api) {
  std::vector<PublishedRow> rows = api.options.published;
  std::ranges::copy(api.options.imported, std::back_inserter(rows));
  sort_published(rows);
  return rows;
}

std::set<std::string> benchmarks(const Api& api) {
  std::set<std::string> names;
  for (const PublishedRow& row : all_rows(api)) names.insert(row.benchmark);
  return names;
}

Result<std::vector<PublishedRow>> posted_rows(const std::string& text) {
  const Result<json> body = parse_object(text);
  if (!body) return body.errors();
  json document = *body;
  if (!document.contains("version")) document["version"] = 1;
  Result<std::vector<PublishedRow>> rows = load_published(document.dump(), kImportsName);
  if (rows) return rows;
  Errors errors = rows.errors();
  for (Error& error : errors) error.where.clear();  // of the document made here; the message names the key
  return errors;
}

}  // namespace

std::optional<json> published_rows(const Api& api, const std::string& benchmark) {
  json rows = json::array();
  for (const PublishedRow& row : all_rows(api))
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

// Answered when the file has them.
awaitable<ServerReply> post_published(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  if (const auto refusal = api.store.refusal()) co_return problem({*refusal}, call.request.id);
  const Result<std::vector<PublishedRow>> rows = posted_rows(call.request.body);
  if (!rows) co_return bad_request(call, rows.errors());
  const KeyLock::Guard turn = co_await api.keys.acquire(kLockOfImports);
  ImportsTaken taken = take_imports(api.options.imported, *rows);
  if (taken.rows.size() > kMostImports)
    co_return problem(
        409,
        fmt::format("there would be {} imported rows, and there may be {}: remove some from {} in the "
                    "coordinator's home",
                    taken.rows.size(), kMostImports, kImportsName),
        call.request.id);
  if (taken.added + taken.replaced > 0) {
    auto write = [file = api.options.imports, text = imports_text(taken.rows)] {
      write_file_atomic(file, text);
      return true;
    };
    co_await api.streams.run(std::move(write));
  }
  api.options.imported = std::move(taken.rows);
  json published = json::array();
  for (const PublishedRow& row : *rows) published.push_back(to_json(row));
  co_return json_reply(200, {{"added", taken.added},
                             {"replaced", taken.replaced},
                             {"unchanged", taken.unchanged},
                             {"published", std::move(published)}});
}

}  // namespace podium
