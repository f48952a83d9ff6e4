// The whole curves of a job, read from the coordinator page by page: few points are in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/curves/point.h"
#include "cli/kept_connection.h"

namespace podium::cli {

struct JobMetric {
  std::string name;
  std::uint64_t points = 0;
  std::uint64_t lost = 0;
};

std::vector<JobMetric> metrics_of(KeptConnection& connection, std::int64_t job);

// The id that MLflow's API has for each job: 16 digits of the cluster's identity, 16 of the job's number.
std::string run_id_of(const std::string& cluster, std::int64_t job);
std::int64_t job_of(const std::string& run_id);

constexpr std::uint64_t kLongestPage = 20'000;

// All points of one by step, also where several are at one step: its history, not its curve as it is drawn.
// At most `page` of them are in memory.
class CurveReader {
 public:
  CurveReader(KeptConnection& connection, std::string run_id, std::string metric,
              std::uint64_t page = kLongestPage);

  std::optional<CurvePoint> next();

 private:
  friend class CurveReaders;

  Query page_query() const;
  void turn_page();
  void take_page(const nlohmann::json& reply);

  KeptConnection* connection_;
  std::string run_id_, metric_;
  std::uint64_t most_;
  std::vector<CurvePoint> page_;
  std::size_t at_ = 0;
  std::optional<std::string> next_page_ = "";  // nothing: there is none
};

// A reader of each of a run's metrics, in their order. The pages of short ones come several at once, for a
// run may have thousands.
class CurveReaders {
 public:
  // `metrics` must outlive this.
  CurveReaders(KeptConnection& connection, std::string run_id, const std::vector<JobMetric>& metrics,
               std::uint64_t page = kLongestPage);

  CurveReader next();  // of the next metric, of which there must be one

 private:
  void fill();

  KeptConnection* connection_;
  const std::string run_id_;
  const std::vector<JobMetric>& metrics_;
  const std::uint64_t page_;
  std::size_t asked_ = 0;  // of metrics_
  std::deque<CurveReader> ready_;
};

}  // namespace podium::cli
