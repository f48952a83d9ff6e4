#include "cli/determined/lengths.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace podium::cli {
namespace {

constexpr std::int64_t kMost = 1'000'000'000'000;  // steps of a spec

}  // namespace

Lengths::Lengths(DeterminedExperiment& experiment, const std::vector<Hyperparameter>& hyperparameters)
    : experiment_(experiment) {
  for (const Hyperparameter& each : hyperparameters)
    if (each.name == "global_batch_size" && each.value.is_number_integer())
      batch_ = each.value.get<std::int64_t>();
  epoch_ = experiment.integer("/records_per_epoch");
  if (batch_ && (*batch_ < 1 || *batch_ > kMost)) batch_.reset();
  if (epoch_ && (*epoch_ < 1 || *epoch_ > kMost)) epoch_.reset();
}

// Of a part of a batch nothing is left, but one batch there is.
std::optional<std::int64_t> Lengths::in_batches(const Length& length) const {
  if (length.unit == "batches") return length.count;
  if (!batch_ || (length.unit == "epochs" && !epoch_)) return std::nullopt;
  const std::int64_t records = length.unit == "epochs" ? *epoch_ : 1;
  if (records > kMost / length.count) return std::nullopt;
  return std::max<std::int64_t>(records * length.count / *batch_, 1);
}

std::optional<Length> Lengths::of(const std::string& pointer) {
  if (!experiment_.has(pointer)) return std::nullopt;
  Length length;
  if (const auto plain = experiment_.integer(pointer)) length = {*plain, "batches"};
  for (const char* unit : {"batches", "records", "epochs"})
    if (const auto count = experiment_.integer(pointer + "/" + unit)) length = {*count, unit};
  if (length.count < 1 || length.count > kMost) {
    experiment_.left(pointer, "is no length such as {batches: 100}");
    return std::nullopt;
  }
  const auto batches = in_batches(length);
  if (!batches) {
    experiment_.changed(
        pointer, fmt::format("stays in {}: batches need records_per_epoch and a global_batch_size that is "
                             "not searched",
                             length.unit));
    return length;
  }
  if (length.unit != "batches")
    experiment_.changed(pointer, fmt::format("{} {} are {} batches of {} records", length.count, length.unit,
                                             *batches, *batch_));
  return Length{*batches, "batches"};
}

}  // namespace podium::cli
