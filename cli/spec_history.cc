#include "cli/spec_history.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

#include "cli/failure.h"
#include "common/model/data_path.h"
#include "common/spec/load.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCommits = 1000;

// Where the code of a spec lies, from the repository's root; nothing for a spec without code, with code of a
// revision of its own, or with mistakes, which the coordinator tells.
std::optional<std::string> code_folder(const std::string& text, const fs::path& path) {
  const auto loaded = load_experiment(text, path.string());
  if (!loaded) return std::nullopt;
  const CodeSpec* const code = code_of(*loaded);
  if (code == nullptr || !code->snapshot.empty() || !code->git.empty()) return std::nullopt;
  const fs::path folder = (path.parent_path() / code->folder).lexically_normal();
  if (leads_out_of_folder(folder)) return std::nullopt;
  std::string inside = folder.generic_string();
  if (inside.ends_with('/')) inside.pop_back();
  return inside == "." ? "" : inside;
}

}  // namespace

SpecHistory::SpecHistory(const std::string& folder, std::string path)
    : path_(std::move(path)), git_(load_git(missing_)) {
  if (!git_) throw Failure(Exit::usage, "git cannot be asked: " + missing_);
  if (git_->repository_open_ext(&repository_, folder.c_str(), 0, nullptr) != 0)
    throw Failure(Exit::usage, folder + " lies in no git repository; name a clone with --repository DIR");
}

SpecHistory::~SpecHistory() {
  if (git_) git_->repository_free(repository_);
}

SpecVersion SpecHistory::read(const Commit& commit) const {
  SpecVersion version{commit, std::nullopt, std::nullopt, ""};
  const auto file = object_at(git_->objects, repository_, commit.hash, path_);
  if (!file || !file->text) return version;
  version.text = file->text;
  version.code = code_folder(*file->text, path_);
  version.content = file->id;
  if (version.code) {
    const auto code = object_at(git_->objects, repository_, commit.hash, *version.code);
    version.content += code ? code->id : "";
  }
  return version;
}

std::vector<SpecVersion> SpecHistory::versions(const std::string& good, const std::string& bad) const {
  const auto range = [&](const std::string& from, const std::string& to) {
    auto commits = commits_between(git_->history, repository_, from, to, kMostCommits, Line::main);
    if (!commits)
      throw Failure(Exit::refused,
                    fmt::format("the repository lacks commit {} or {}; fetch them, or name a clone that "
                                "has them with --repository DIR",
                                good.substr(0, 12), bad.substr(0, 12)));
    return std::move(*commits);
  };
  if (range(bad, good).count > 0)
    throw Failure(Exit::refused,
                  fmt::format("commit {} of the good job does not come before {} of the bad one",
                              good.substr(0, 12), bad.substr(0, 12)));
  CommitRange between = range(good, bad);
  if (between.count > kMostCommits)
    throw Failure(Exit::refused,
                  fmt::format("{} commits lie between the two; {} are the most that are searched",
                              between.count, kMostCommits));
  std::ranges::reverse(between.commits);
  std::vector<SpecVersion> versions;
  std::string before = read({good, 0, "", ""}).content;
  for (const Commit& commit : between.commits) {
    SpecVersion version = read(commit);
    if (version.content == before) continue;
    before = version.content;
    versions.push_back(std::move(version));
  }
  return versions;
}

CodeSnapshot SpecHistory::pack(const SpecVersion& version) const {
  const std::string place =
      fmt::format("{} of commit {}: code.folder", path_, version.commit.hash.substr(0, 12));
  try {
    Result<CodeSnapshot> packed =
        pack_code(files_in(git_->objects, repository_, version.commit.hash, *version.code), place);
    if (!packed) throw Failure(Exit::refused, describe(packed.errors()));
    return std::move(packed).value();
  } catch (const GitError& error) {
    throw Failure(Exit::refused, place + ": " + error.what());
  }
}

}  // namespace podium::cli
