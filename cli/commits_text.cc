#include "cli/commits_text.h"

#include <fmt/ranges.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <vector>

#include "cli/fields.h"
#include "cli/git_library.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostListed = 20;  // commits of one range
constexpr std::size_t kHashShown = 12;

struct Pair {
  std::string from, to;
  std::vector<std::int64_t> jobs;  // of `to`
};

std::string day_of(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm day{};
  localtime_r(&time, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

std::vector<Pair> pairs_of(const json& comparison) {
  const json &jobs = comparison.at("jobs"), &sources = comparison.at("sources");
  json base;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].at("id") == comparison.at("base")) base = sources.at(i);
  std::vector<Pair> pairs;
  if (!base.is_object()) return pairs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const json& source = sources.at(i);
    if (!source.is_object() || source.at("repository") != base.at("repository")) continue;
    const std::string from = text_field(base, "commit"), to = text_field(source, "commit");
    if (from == to) continue;
    const auto known = std::ranges::find(pairs, to, &Pair::to);
    Pair& pair = known == pairs.end() ? pairs.emplace_back(Pair{from, to, {}}) : *known;
    pair.jobs.push_back(integer_field(jobs[i], "id"));
  }
  return pairs;
}

std::string list_text(const CommitRange& range) {
  std::string text;
  for (const Commit& commit : range.commits)
    text += fmt::format("  {}  {}  {}  {}\n", commit.hash.substr(0, kHashShown), day_of(commit.seconds),
                        printable(commit.author), printable(commit.summary));
  if (range.count > range.commits.size())
    text += fmt::format("  and {} more\n", range.count - range.commits.size());
  return text;
}

std::string jobs_text(const std::vector<std::int64_t>& jobs) {
  return fmt::format("{} {}", jobs.size() == 1 ? "job" : "jobs", fmt::join(jobs, ", "));
}

std::string pair_text(const GitLibrary& git, git_repository* repository, const Pair& pair,
                      std::int64_t base) {
  const auto range = [&](const std::string& from, const std::string& to) {
    return commits_between(git.history, repository, from, to, kMostListed);
  };
  const auto ahead = range(pair.from, pair.to), behind = range(pair.to, pair.from);
  if (!ahead || !behind) return "";
  std::string text;
  if (ahead->count > 0)
    text += fmt::format("\nCommits of {} that job {} lacks: {}\n{}", jobs_text(pair.jobs), base, ahead->count,
                        list_text(*ahead));
  if (behind->count > 0)
    text += fmt::format("\nCommits of job {} that {} lack{}: {}\n{}", base, jobs_text(pair.jobs),
                        pair.jobs.size() == 1 ? "s" : "", behind->count, list_text(*behind));
  return text;
}

}  // namespace

std::string commits_text(const json& comparison, const std::string& folder) {
  const std::vector<Pair> pairs = pairs_of(comparison);
  if (pairs.empty()) return "";
  const std::string elsewhere =
      "\nThe jobs' commits differ; --repository DIR lists the commits between them, where DIR is a clone "
      "that has them.\n";
  std::string missing;
  const std::unique_ptr<GitLibrary> git = load_git(missing);
  if (!git) return "\nThe commits between are not listed: " + missing + "\n";
  git_repository* found = nullptr;
  if (git->repository_open_ext(&found, folder.c_str(), 0, nullptr) != 0) return elsewhere;
  const std::unique_ptr<git_repository, void (*)(git_repository*)> repository(found, git->repository_free);
  std::string text;
  for (const Pair& pair : pairs) text += pair_text(*git, found, pair, integer_field(comparison, "base"));
  return text.empty() ? elsewhere : text;
}

}  // namespace podium::cli
