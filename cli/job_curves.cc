#include "cli/job_curves.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>

#include "cli/curves/number_text.h"
#include "cli/fields.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kHalf = 16;  // of a run id
constexpr const char* kHistory = "/metrics/get-history";

double value_in(const json& value) {
  return value.is_string() ? value_of(value.get<std::string>()).value_or(0) : value.get<double>();
}

}  // namespace

std::vector<JobMetric> metrics_of(KeptConnection& connection, std::int64_t job) {
  std::vector<JobMetric> metrics;
  const json reply = connection.get(fmt::format("/jobs/{}/metrics", job));
  for (const json& each : reply.at("metrics"))
    metrics.push_back({text_field(each, "key"), each.at("count").get<std::uint64_t>(),
                       each.value("lost_points", std::uint64_t{0})});
  return metrics;
}

std::string run_id_of(const std::string& cluster, std::int64_t job) {
  return fmt::format("{}{:016x}", cluster.substr(0, kHalf), job);
}

std::int64_t job_of(const std::string& run_id) {
  std::int64_t job = 0;
  const std::string_view number = std::string_view(run_id).substr(std::min(run_id.size(), kHalf));
  std::from_chars(number.data(), number.data() + number.size(), job, 16);
  return job;
}

CurveReader::CurveReader(KeptConnection& connection, std::string run_id, std::string metric,
                         std::uint64_t page)
    : connection_(&connection), run_id_(std::move(run_id)), metric_(std::move(metric)), most_(page) {}

std::optional<CurvePoint> CurveReader::next() {
  while (at_ == page_.size() && next_page_) turn_page();
  if (at_ == page_.size()) return std::nullopt;
  return page_[at_++];
}

Query CurveReader::page_query() const {
  return {{"run_id", run_id_},
          {"metric_key", metric_},
          {"max_results", std::to_string(most_)},
          {"page_token", *next_page_}};
}

void CurveReader::turn_page() { take_page(connection_->get_mlflow(kHistory, page_query())); }

void CurveReader::take_page(const json& reply) {
  page_.clear();
  at_ = 0;
  for (const json& point : reply.value("metrics", json::array()))
    page_.push_back({point.at("step").get<std::int64_t>(), point.at("timestamp").get<std::int64_t>(),
                     value_in(point.at("value"))});
  next_page_ = text_field(reply, "next_page_token");
  if (next_page_->empty()) next_page_.reset();
}

CurveReaders::CurveReaders(KeptConnection& connection, std::string run_id,
                           const std::vector<JobMetric>& metrics, std::uint64_t page)
    : connection_(&connection), run_id_(std::move(run_id)), metrics_(metrics), page_(page) {}

CurveReader CurveReaders::next() {
  if (ready_.empty()) fill();
  CurveReader reader = std::move(ready_.front());
  ready_.pop_front();
  return reader;
}

// A long one comes page by page as it is read.
void CurveReaders::fill() {
  constexpr std::size_t kAtOnce = 8;
  constexpr std::uint64_t kShort = 1000;  // points
  std::vector<Query> queries;
  while (asked_ < metrics_.size() && ready_.size() < kAtOnce) {
    const JobMetric& metric = metrics_[asked_];
    const bool is_short = metric.points <= kShort;
    if (!is_short && !ready_.empty()) break;
    ready_.emplace_back(*connection_, run_id_, metric.name, page_);
    ++asked_;
    if (!is_short) return;
    queries.push_back(ready_.back().page_query());
  }
  const std::vector<json> pages = connection_->get_mlflow_each(kHistory, queries);
  for (std::size_t i = 0; i < pages.size(); ++i) ready_[i].take_page(pages[i]);
}

}  // namespace podium::cli
