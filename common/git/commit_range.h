// The commits that lie between two others of a repository.
#pragma once

#include <git2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace podium {

// libgit2's functions, without "git_", as in GitObjects.
struct GitHistory {
  decltype(&git_commit_author) commit_author;
  decltype(&git_commit_free) commit_free;
  decltype(&git_commit_lookup) commit_lookup;
  decltype(&git_commit_summary) commit_summary;
  decltype(&git_commit_time) commit_time;
  decltype(&git_oid_fromstr) oid_fromstr;
  decltype(&git_oid_tostr) oid_tostr;
  decltype(&git_revwalk_free) revwalk_free;
  decltype(&git_revwalk_hide) revwalk_hide;
  decltype(&git_revwalk_new) revwalk_new;
  decltype(&git_revwalk_next) revwalk_next;
  decltype(&git_revwalk_push) revwalk_push;
  decltype(&git_revwalk_simplify_first_parent) revwalk_simplify_first_parent;
  decltype(&git_revwalk_sorting) revwalk_sorting;
};

struct Commit {
  std::string hash;          // in full
  std::int64_t seconds = 0;  // since 1970
  std::string author, summary;
};

struct CommitRange {
  std::vector<Commit> commits;  // newest first, at most `most`
  std::size_t count = 0;        // of all
};

// Which commits of a history with merges: all, or those of its main line alone (first parents).
enum class Line { all, main };

// What `to` has and `from` has not, as `git log from..to`: full hashes both. Nothing where the repository
// lacks one of them.
std::optional<CommitRange> commits_between(const GitHistory& git, git_repository* repository,
                                           const std::string& from, const std::string& to, std::size_t most,
                                           Line line = Line::all);

}  // namespace podium
