#include "common/git/commit_range.h"

#include <array>
#include <memory>

namespace podium {
namespace {

using Walk = std::unique_ptr<git_revwalk, decltype(&git_revwalk_free)>;

std::optional<Commit> read_commit(const GitHistory& git, git_repository* repository, const git_oid& id) {
  git_commit* found = nullptr;
  if (git.commit_lookup(&found, repository, &id) != 0) return std::nullopt;
  const std::unique_ptr<git_commit, decltype(&git_commit_free)> commit(found, git.commit_free);
  std::array<char, GIT_OID_HEXSZ + 1> hash;
  const git_signature* author = git.commit_author(found);
  const char* summary = git.commit_summary(found);
  return Commit{git.oid_tostr(hash.data(), hash.size(), &id), git.commit_time(found),
                author ? author->name : "", summary ? summary : ""};
}

}  // namespace

std::optional<CommitRange> commits_between(const GitHistory& git, git_repository* repository,
                                           const std::string& from, const std::string& to, std::size_t most,
                                           Line line) {
  git_oid first, last;
  if (git.oid_fromstr(&first, from.c_str()) != 0 || git.oid_fromstr(&last, to.c_str()) != 0)
    return std::nullopt;
  git_revwalk* made = nullptr;
  if (git.revwalk_new(&made, repository) != 0) return std::nullopt;
  const Walk walk(made, git.revwalk_free);
  git.revwalk_sorting(made, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
  if (line == Line::main) git.revwalk_simplify_first_parent(made);
  if (git.revwalk_push(made, &last) != 0 || git.revwalk_hide(made, &first) != 0) return std::nullopt;
  CommitRange range;
  for (git_oid id; git.revwalk_next(&id, made) == 0; ++range.count) {
    if (range.commits.size() == most) continue;
    if (auto commit = read_commit(git, repository, id)) range.commits.push_back(std::move(*commit));
  }
  return range;
}

}  // namespace podium
