#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "common/net/zstd.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxUnpacked = 8 * 1024 * 1024;

Result<NodeReport> parse_report(const Call& call) {
  try {
    NodeReport report = node_report_from_json(json::parse(call.request.body));
    if (report.node.id.value == call.path[0]) return report;
    return Error{ErrorCode::invalid, "the report is of node \"" + report.node.id.value + "\"", "/node/id"};
  } catch (const std::exception& error) {
    return Error{ErrorCode::invalid, std::string("malformed report: ") + error.what(), ""};
  }
}

std::map<JobId, JobSpec> read_specs(Reader& reader, const std::set<JobId>& jobs) {
  std::map<JobId, JobSpec> specs;
  for (const JobId job : jobs) {
    const std::optional<std::string> spec = reader.job_spec(job);
    PODIUM_CHECK(spec.has_value(), "an active job has a spec on disk");
    specs.emplace(job, job_spec_from_json(json::parse(*spec)));
  }
  return specs;
}

// The node's orders with everything that the core does not know.
awaitable<NodeOrders> whole_orders(Api& api, NodeId node) {
  NodeOrders orders = node_orders(api.loop.state(), node);
  std::set<JobId> jobs;
  for (TaskOrder& order : orders.tasks) {
    order.launch.secret = api.loop.secret(order.launch.task.attempt);
    jobs.insert(order.launch.task.attempt.job);
  }
  co_await api.loop.durable();
  if (jobs.empty()) co_return orders;
  const auto query = [jobs](Reader& reader) { return read_specs(reader, jobs); };
  const auto specs = co_await api.pool.read(query);
  for (TaskOrder& order : orders.tasks) {
    order.launch.spec = specs.at(order.launch.task.attempt.job);
    order.launch.spec.resources.devices = order.launch.world_size;  // an elastic job's as this attempt has it
    order.launch.spec.resources.max_devices = 0;
  }
  co_return orders;
}

awaitable<Result<Ingested>> ingest(Store& store, std::string body) {
  return boost::asio::async_initiate<decltype(boost::asio::use_awaitable), void(Result<Ingested>)>(
      [&store, body = std::move(body)](auto handler) mutable {
        // Shared because the store's callback is a copyable std::function.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        store.ingest(std::move(body), [shared](Result<Ingested> result) { (*shared)(std::move(result)); });
      },
      boost::asio::use_awaitable);
}

// The body unpacked, as its Content-Encoding says.
Result<std::string> unpack(Call& call) {
  const std::string encoding = call.request.headers.get("Content-Encoding");
  if (encoding.empty() || equal_ignoring_case(encoding, "identity")) return std::move(call.request.body);
  return zstd_decompress(call.request.body, kMaxUnpacked);
}

bool is_known_encoding(const std::string& encoding) {
  return encoding.empty() || equal_ignoring_case(encoding, "identity") ||
         equal_ignoring_case(encoding, "zstd");
}

// What cannot be read is malformed, not unprocessable.
ServerReply refuse_streams(const Errors& errors, const std::string& request_id) {
  if (errors.front().code == ErrorCode::invalid) return problem(400, describe(errors), request_id, errors);
  return problem(errors, request_id);
}

awaitable<void> spread_news(Api& api, std::vector<JobNews> news) {
  for (const JobNews& item : news) {
    api.feed.tell(item);
    if (!item.checkpoint) continue;
    const Command saved = CheckpointSaved{{item.job, item.attempt}, *item.checkpoint};
    co_await api.loop.run(saved);
  }
}

}  // namespace

awaitable<ServerReply> post_sync(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<NodeReport> report = parse_report(call);
  if (!report) co_return problem(400, describe(report.errors()), call.request.id, report.errors());
  const Command reported = NodeReported{*report};
  const Result<Events> taken = co_await api.loop.run(reported);
  if (!taken) co_return problem(taken.errors(), call.request.id);
  api.readings[report->node.id] = report->readings;
  co_await api.holds.wait(report->node.id, report->orders_seen);
  const NodeOrders orders = co_await whole_orders(api, report->node.id);
  co_return json_reply(200, to_json(orders));
}

awaitable<ServerReply> post_streams(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/x-podium-streams")) co_return std::move(*refusal);
  if (!is_known_encoding(call.request.headers.get("Content-Encoding")))
    co_return problem(415, "Content-Encoding must be zstd or absent", call.request.id);
  Result<std::string> body = unpack(call);
  if (!body) co_return refuse_streams(body.errors(), call.request.id);
  Result<Ingested> result = co_await ingest(api.store, std::move(body).value());
  if (!result) co_return refuse_streams(result.errors(), call.request.id);
  Ingested ingested = std::move(result).value();
  co_await spread_news(api, std::move(ingested.news));
  ServerReply reply;
  reply.headers.set("Content-Type", "application/json");
  reply.body = positions_to_json(ingested.positions);
  co_return reply;
}

}  // namespace podium
