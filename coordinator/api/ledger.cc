// GET /jobs/{job}/ledger: where a job's time went, what it drew and cost. GET /ledger: where that of many
// jobs went.
#include "coordinator/tracking/ledger.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "coordinator/api/job_costs.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/accounts/account_ledger.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kMostPieces = 2000;
constexpr std::array<std::string_view, 5> kLedgerBy{"job", "account", "experiment", "node", "day"};

json piece_json(const LedgerPiece& piece) {
  return {{"from_ms", to_millis(piece.from)},
          {"to_ms", to_millis(piece.to)},
          {"kind", to_string(piece.kind)},
          {"detail", piece.detail},
          {"attempt", piece.attempt},
          {"devices", piece.devices},
          {"first_step", or_null(piece.first_step)},
          {"last_step", or_null(piece.last_step)},
          {"merged", piece.merged}};
}

json total_json(const LedgerTotal& total) {
  return {{"kind", to_string(total.kind)},
          {"detail", total.detail},
          {"times", total.times},
          {"wall_ms", total.wall.count()},
          {"device_ms", total.device_ms},
          {"longest_ms", total.longest.count()},
          {"longest_from_ms", to_millis(total.longest_from)}};
}

json ledger_sums_json(const LedgerSums& sums) {
  json list = json::array();
  for (const auto& [key, device_ms] : sums)
    list.push_back({{"kind", to_string(key.first)}, {"detail", key.second}, {"device_ms", device_ms}});
  return list;
}

json ledger_row_json(const LedgerRow& row) {
  return {{"key", row.key},
          {"name", row.name},
          {"jobs", row.jobs},
          {"held_device_ms", held_ms(row.sums)},
          {"goodput", or_null(goodput(row.sums))},
          {"totals", ledger_sums_json(row.sums)}};
}

LedgerFilter read_ledger_filter(Query& query) {
  LedgerFilter filter;
  const std::string by = query.text("by").value_or("job");
  const auto found = std::ranges::find(kLedgerBy, by);
  if (found == kLedgerBy.end()) query.refuse("by", "must be job, account, experiment, node or day");
  filter.by = static_cast<LedgerBy>(found - kLedgerBy.begin());
  filter.account = query.text("account").value_or("");
  if (const auto experiment = query.integer("experiment", 1, INT64_MAX))
    filter.experiment = ExperimentId{*experiment};
  if (const auto from = query.integer("from_ms", 0, INT64_MAX)) filter.first_day = ledger_day(*from);
  if (const auto to = query.integer("to_ms", 1, INT64_MAX)) filter.last_day = ledger_day(*to - 1);
  return filter;
}

// Days stand in their order; other groups stand by how much they held, the largest first.
void put_in_order(LedgerBy by, std::vector<LedgerRow>& rows) {
  if (by != LedgerBy::day) {
    std::ranges::stable_sort(rows, std::ranges::greater{},
                             [](const LedgerRow& row) { return held_ms(row.sums); });
    return;
  }
  std::ranges::sort(rows, {}, [](const LedgerRow& row) { return std::stoll(row.key); });
  for (LedgerRow& row : rows)
    row.key = format_time(from_millis(std::stoll(row.key) * kLedgerDay.count())).substr(0, 10);
}

}  // namespace

awaitable<ServerReply> get_job_ledger(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const Time now = api.loop.now();
  const Prices& prices = api.options.prices;
  const auto body = co_await api.pool.read([id, now, &prices](Reader& reader) -> std::optional<json> {
    const LedgerRows rows = reader.ledger(*id);
    const std::optional<JobView> job = reader.job(*id);
    if (rows.marks.empty() || !job) return std::nullopt;
    const std::vector<LedgerPiece> pieces = make_ledger(rows, now);
    const LedgerSums sums = sums_of(pieces);
    json out{{"job", id->value},
             {"now_ms", to_millis(now)},
             {"final", rows.marks.back().kind == JobMarkKind::ended},
             {"devices", rows.devices},
             {"held_device_ms", held_ms(sums)},
             {"goodput", or_null(goodput(sums))},
             {"pieces", json::array()},
             {"totals", json::array()}};
    const JobCosts costs = costs_of(reader, *job, pieces, prices);
    out["energy"] = to_json(costs.energy);
    out["cost"] = to_json(costs.cost, prices);
    for (const LedgerPiece& piece : merge_short(pieces, kMostPieces))
      out["pieces"].push_back(piece_json(piece));
    for (const LedgerTotal& total : totals_of(pieces)) out["totals"].push_back(total_json(total));
    return out;
  });
  if (!body) co_return no_such(call, "job", call.path[0]);
  co_return json_reply(200, *body);
}

awaitable<ServerReply> get_ledger(Api& api, Call call) {
  const LedgerFilter filter = read_ledger_filter(call.query);
  const auto limit = static_cast<std::size_t>(call.query.integer_or("limit", 100, 1, 1000));
  if (!call.query.problems().empty()) co_return bad_query(call);
  const Time now = api.loop.now();
  const bool known_account = account_exists(api.loop.state(), filter.account);
  const auto query = [filter, known_account, now](Reader& reader) {
    LedgerTable table = reader.ledger_table(filter, now);
    put_in_order(filter.by, table.rows);
    const JobFilter named{.experiment = filter.experiment, .account = known_account ? "" : filter.account};
    std::vector<UnknownName> unknown;
    if (table.rows.empty()) unknown = unknown_names(reader, named);
    return std::pair(std::move(table), std::move(unknown));
  };
  const auto [table, unknown] = co_await api.pool.read(query);
  for (const UnknownName& name : unknown) call.query.refuse(name.field, name.why);
  if (!unknown.empty()) co_return bad_query(call);
  json body{{"by", kLedgerBy[static_cast<std::size_t>(filter.by)]},
            {"now_ms", to_millis(now)},
            {"count", table.rows.size()},
            {"rows", json::array()},
            {"all", ledger_row_json(table.all)}};
  // Of days, the last ones are kept.
  const std::size_t left_out = table.rows.size() - std::min(limit, table.rows.size());
  const std::size_t first = filter.by == LedgerBy::day ? left_out : 0;
  for (std::size_t i = first; i < first + std::min(limit, table.rows.size()); ++i)
    body["rows"].push_back(ledger_row_json(table.rows[i]));
  co_return json_reply(200, body);
}

}  // namespace podium
