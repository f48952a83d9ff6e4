#include "coordinator/tracking/board.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/units.h"

namespace podium {
namespace {

using nlohmann::json;

std::string last_part(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The model's preset, or its shape, as in "bert-2x128".
std::string model_name(const json& model) {
  if (model.contains("preset")) return model.at("preset");
  return fmt::format("{}-{}x{}", model.at("family").get<std::string>(), model.at("layers").get<int>(),
                     model.at("hidden").get<int>());
}

// "torchrun pretrain_gpt.py": the words before the first option, without folders.
std::string program_name(const json& command) {
  std::string text;
  for (const json& word : command) {
    const auto& each = word.get_ref<const std::string&>();
    if (each.starts_with('-')) break;
    text += (text.empty() ? "" : " ") + last_part(each);
  }
  return text;
}

std::string subject(const json& identity) {
  if (identity.contains("command")) return program_name(identity.at("command"));
  return model_name(identity.at("model")) + " " + identity.at("task").get<std::string>();
}

std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (plain || lower != c)
      out += lower;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

// The digest identifies the benchmark; the shortened name in front of it is for people.
constexpr std::size_t kLongestSlug = 60;

std::string some_jobs(const std::vector<JobId>& jobs) {
  constexpr std::size_t kMostNamed = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(jobs.size(), kMostNamed); ++i)
    out += (i == 0 ? "" : ", ") + to_string(jobs[i]);
  const std::string more =
      jobs.size() > kMostNamed ? fmt::format(" and {} more", jobs.size() - kMostNamed) : "";
  return (jobs.size() == 1 ? "job " : "jobs ") + out + more;
}

}  // namespace

std::string benchmark_id(const json& identity) {
  const std::string text = identity.dump();
  const std::uint64_t digest = XXH3_64bits(text.data(), text.size());
  const std::string readable =
      slug(subject(identity) + " " + last_part(identity.at("target").at("metric"))).substr(0, kLongestSlug);
  return fmt::format("{}-{:016x}", readable, digest);
}

std::string benchmark_name(const json& identity) {
  const json& target = identity.at("target");
  const bool at_least = target.contains("at_least");
  return fmt::format("{}, {} {} {}", subject(identity), target.at("metric").get<std::string>(),
                     at_least ? "at least" : "at most",
                     target.at(at_least ? "at_least" : "at_most").get<double>());
}

double BoardRun::seconds() const { return std::chrono::duration<double>(reached - started).count(); }

std::vector<std::string> exclusions(const BoardRun& run) {
  std::vector<std::string> out;
  if (run.artificial) out.push_back("it ran on devices that were made up");
  if (run.device_models.empty())
    out.push_back("which devices it ran on was not recorded");
  else if (run.device_models.size() > 1)
    out.push_back(
        fmt::format("it ran on devices of several kinds: {}", fmt::join(run.device_models, " and ")));
  if (run.devices.size() > 1)
    out.push_back(
        fmt::format("it did not run on one number of devices: {}", fmt::join(run.devices, " and ")));
  if (!run.shared_with)
    out.push_back("whether it shared its nodes was not recorded");
  else if (!run.shared_with->empty())
    out.push_back("it shared nodes with " + some_jobs(*run.shared_with));
  for (const Duration step : run.clock_steps) {
    const Duration size = std::chrono::round<std::chrono::seconds>(std::chrono::abs(step));
    out.push_back(fmt::format("the cluster's clock was set {} by {} while it ran",
                              step > Duration{} ? "forward" : "back", format_duration(size)));
  }
  return out;
}

std::vector<BoardClass> board_classes(const std::vector<BoardRun>& runs) {
  std::map<std::pair<std::string, int>, std::vector<const BoardRun*>> by_class;
  for (const BoardRun& run : runs)
    if (exclusions(run).empty()) by_class[{run.device_models.front(), run.devices.front()}].push_back(&run);
  std::vector<BoardClass> classes;
  for (auto& [key, of_class] : by_class) {
    std::ranges::sort(of_class, {}, [](const BoardRun* run) { return std::pair(run->reached, run->job); });
    BoardClass entry{key.first, key.second, {}};
    for (const BoardRun* run : of_class) {
      const double seconds = run->seconds();
      if (entry.records.empty())
        entry.records.push_back({run->job, run->reached, seconds, {}});
      else if (const double best = entry.records.back().seconds; seconds < best)
        entry.records.push_back({run->job, run->reached, seconds, (best - seconds) / best});
    }
    classes.push_back(std::move(entry));
  }
  return classes;
}

}  // namespace podium
