#include "worker/commands/profile_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <utility>

namespace podium {
namespace {

double total_flops(const RankProfile& profile) {
  double flops = 0;
  for (const ProfileRow& row : profile.rows) flops += row.flops;
  return flops;
}

double sequences_per_second(const JobSpec& spec, const RankProfile& profile) {
  return static_cast<double>(spec.training.batch.global) * profile.steps / profile.seconds;
}

// A rate in units of 1e9 a second; nothing where there is none.
std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds * 1e-9) : "";
}

std::string profile_title(const JobSpec& spec, const RankProfile& profile, std::size_t ranks) {
  return fmt::format(
      "{}: {}, {} sequences of {} a step, {} process{}\n"
      "{} steps of {:.1f} ms: {:.1f} sequences/s, {} GFLOP/s of products in rank 0\n",
      spec.name, to_string(spec.training.precision), spec.training.batch.global,
      spec.training.sequence_length, ranks, ranks == 1 ? "" : "es", profile.steps,
      profile.seconds * 1e3 / profile.steps, sequences_per_second(spec, profile),
      rate(total_flops(profile), profile.seconds));
}

constexpr char kRow[] = "{:<10}{:<46}{:>7}{:>11}{:>8}{:>10}{:>8}\n";

std::string row_text(const RankProfile& profile, const ProfileRow& row, const std::string& name) {
  return fmt::format(kRow, row.phase, name, row.calls / profile.steps,
                     fmt::format("{:.2f}", row.seconds * 1e3 / profile.steps),
                     fmt::format("{:.1f}%", 100 * row.seconds / profile.seconds),
                     rate(row.flops, row.seconds), rate(row.bytes, row.seconds));
}

std::string phases_text(const RankProfile& profile) {
  std::map<std::string, ProfileRow> phases;
  for (const ProfileRow& row : profile.rows) {
    ProfileRow& phase = phases[row.phase];
    phase.phase = row.phase;
    if (row.op.empty()) phase.calls += row.calls;
    phase.seconds += row.seconds;
    phase.flops += row.flops;
    phase.bytes += row.bytes;
  }
  std::vector<ProfileRow> rows;
  for (const auto& [name, row] : phases) rows.push_back(row);
  std::ranges::sort(rows, std::greater{}, &ProfileRow::seconds);
  std::string text = fmt::format(kRow, "phase", "", "calls", "ms a step", "share", "GFLOP/s", "GB/s");
  for (const ProfileRow& row : rows) text += row_text(profile, row, "");
  return text;
}

std::string ops_text(const RankProfile& profile, std::size_t most) {
  std::string text = fmt::format(kRow, "phase", "op [rows, columns, terms]", "calls", "ms a step", "share",
                                 "GFLOP/s", "GB/s");
  const std::size_t shown = std::min(most, profile.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ProfileRow& row = profile.rows[i];
    text += row_text(profile, row, row.op.empty() ? "(between ops)" : row.op);
  }
  if (shown == profile.rows.size()) return text;
  ProfileRow rest;
  for (std::size_t i = shown; i < profile.rows.size(); ++i) {
    rest.calls += profile.rows[i].calls;
    rest.seconds += profile.rows[i].seconds;
  }
  return text + row_text(profile, rest, fmt::format("{} more", profile.rows.size() - shown));
}

std::string memory_text(const RankProfile& profile) {
  std::vector<std::pair<std::int64_t, std::string>> kinds;
  for (const auto& [kind, bytes] : profile.memory) kinds.emplace_back(bytes, kind);
  std::ranges::sort(kinds, std::greater{});
  std::string text = "memory                MB\n";
  for (const auto& [bytes, kind] : kinds)
    text += fmt::format("{:<16}{:>8.1f}\n", kind, static_cast<double>(bytes) * 1e-6);
  return text +
         fmt::format("{:<16}{:>8.1f}\n", "at most in all", static_cast<double>(profile.peak_bytes) * 1e-6);
}

}  // namespace

std::string profile_text(const JobSpec& spec, const std::vector<RankProfile>& ranks, std::size_t most) {
  const RankProfile& lead = ranks.front();
  std::string text = profile_title(spec, lead, ranks.size()) + "\n" + phases_text(lead) + "\n" +
                     ops_text(lead, most) + "\n" + memory_text(lead);
  for (std::size_t rank = 1; rank < ranks.size(); ++rank)
    text += fmt::format("rank {}: {:.1f} ms a step, {} GFLOP/s, {:.1f} MB at most\n", rank,
                        ranks[rank].seconds * 1e3 / ranks[rank].steps,
                        rate(total_flops(ranks[rank]), ranks[rank].seconds),
                        static_cast<double>(ranks[rank].peak_bytes) * 1e-6);
  return text;
}

nlohmann::json profile_json(const JobSpec& spec, const std::vector<RankProfile>& ranks) {
  nlohmann::json each = nlohmann::json::array();
  for (const RankProfile& rank : ranks) each.push_back(to_json(rank));
  return {{"name", spec.name},
          {"precision", to_string(spec.training.precision)},
          {"sequences_per_second", sequences_per_second(spec, ranks.front())},
          {"gflops", total_flops(ranks.front()) / ranks.front().seconds * 1e-9},
          {"ranks", std::move(each)}};
}

}  // namespace podium
