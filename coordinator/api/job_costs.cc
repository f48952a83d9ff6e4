#include "coordinator/api/job_costs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/model/spec.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/study_members.h"

namespace podium {
namespace {

using nlohmann::json;

std::int64_t held_until(const std::vector<LedgerPiece>& pieces, std::optional<Time> until) {
  std::int64_t held = 0;
  for (const LedgerPiece& piece : pieces)
    if (is_held(piece.kind))
      held +=
          (std::clamp(until.value_or(piece.to), piece.from, piece.to) - piece.from).count() * piece.devices;
  return held;
}

double fraction(std::int64_t part, std::int64_t all) {
  return all > 0 ? std::min(1.0, static_cast<double>(part) / static_cast<double>(all)) : 0;
}

std::optional<double> samples_of(Reader& reader, const JobView& job) {
  const JobSpec spec = job_spec_from_json(json::parse(reader.job_spec(job.id).value_or("{}")));
  if (!spec.trains()) return std::nullopt;
  const std::vector<AttemptView> attempts = reader.attempts(job.id);
  std::int64_t last = 0;
  for (const AttemptView& attempt : attempts) last = std::max(last, attempt.last_step.value_or(0));
  return samples_between(spec.training, first_step_of(attempts), last);
}

std::optional<JobEnergy> energy_of(Reader& reader, const JobView& job, const std::vector<LedgerPiece>& pieces,
                                   std::optional<Time> reached) {
  if (!reader.has_energy(job.id)) return std::nullopt;
  JobEnergy energy;
  energy.all = reader.energy(job.id, {});
  const std::int64_t held = held_until(pieces, {});
  energy.covered = fraction(energy.all.covered_ms, held);
  energy.shared = fraction(energy.all.shared_ms, held);
  energy.samples = samples_of(reader, job);
  if (energy.samples && *energy.samples > 0 && energy.covered >= kEnoughCovered)
    energy.per_sample = energy.all.joules / *energy.samples;
  if (!reached) return energy;
  const EnergySum until = reader.energy(job.id, reached);
  if (fraction(until.covered_ms, held_until(pieces, reached)) >= kEnoughCovered)
    energy.to_target = until.joules;
  return energy;
}

std::optional<JobCost> cost_of_job(Reader& reader, const JobView& job, const std::vector<LedgerPiece>& pieces,
                                   const Prices& prices, std::optional<Time> reached) {
  if (prices.empty() || held_until(pieces, {}) == 0) return std::nullopt;
  const std::vector<HeldDevices> held = reader.held_devices(job.id);
  JobCost cost{cost_of(pieces, held, prices, {}), {}};
  if (reached) cost.to_target = cost_of(pieces, held, prices, reached).amount;
  return cost;
}

}  // namespace

JobCosts costs_of(Reader& reader, const JobView& job, const std::vector<LedgerPiece>& pieces,
                  const Prices& prices) {
  const std::optional<Time> reached = job.target ? job.target->reached : std::nullopt;
  return {energy_of(reader, job, pieces, reached), cost_of_job(reader, job, pieces, prices, reached)};
}

json to_json(const std::optional<JobEnergy>& energy) {
  if (!energy) return nullptr;
  const bool any = energy->all.covered_ms > 0;
  return {{"joules", any ? json(energy->all.joules) : json(nullptr)},
          {"covered", energy->covered},
          {"shared", energy->shared},
          {"samples", or_null(energy->samples)},
          {"joules_per_sample", or_null(energy->per_sample)},
          {"joules_to_target", or_null(energy->to_target)}};
}

json to_json(const std::optional<JobCost>& cost, const Prices& prices) {
  if (!cost) return nullptr;
  json parts = json::array();
  for (const CostPart& part : cost->all.parts)
    parts.push_back({{"kind", part.kind},
                     {"model", part.model},
                     {"per_device_hour", part.per_device_hour},
                     {"device_hours", part.device_hours}});
  return {{"currency", prices.currency},
          {"amount", or_null(cost->all.amount)},
          {"to_target", or_null(cost->to_target)},
          {"parts", std::move(parts)},
          {"unpriced", cost->all.unpriced}};
}

}  // namespace podium
