#include "coordinator/store/run_bytes.h"

#include <spdlog/fmt/fmt.h>

#include "coordinator/store/one_row.h"

namespace podium {

RunBytes::RunBytes(Database& database)
    : count_(
          database,
          "SELECT coalesce(sum(bytes), 0) FROM ("
          "SELECT length(CAST(key AS BLOB)) + length(CAST(value AS BLOB)) AS bytes FROM params WHERE job = ?1"
          " UNION ALL SELECT length(CAST(key AS BLOB)) + length(CAST(value AS BLOB)) FROM tags WHERE job = ?1"
          " UNION ALL SELECT length(CAST(body AS BLOB)) FROM run_inputs WHERE job = ?1)") {}

std::int64_t& RunBytes::of(JobId run) {
  constexpr std::size_t kMostKnown = 10'000;
  if (known_.size() >= kMostKnown && !known_.contains(run)) known_.clear();
  const auto [known, fresh] = known_.try_emplace(run, 0);
  if (fresh) known->second = number_in(count_.start(run.value));
  return known->second;
}

std::optional<Error> RunBytes::refuse(JobId run, std::int64_t more) {
  if (more <= 0 || of(run) + more <= kMostRunBytes) return std::nullopt;
  return Error{
      ErrorCode::invalid,
      fmt::format("the params, tags and inputs of a run may have {} bytes, and those of job {} would "
                  "have {} with this request; log what is long as an artifact",
                  kMostRunBytes, run.value, of(run) + more),
      ""};
}

void RunBytes::add(JobId run, std::int64_t more) {
  if (more != 0) of(run) += more;
}

}  // namespace podium
