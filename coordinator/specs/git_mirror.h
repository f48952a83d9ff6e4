// A bare copy of one branch of a repository, and of the commits that its specs name under code.git. Only
// objects are read and nothing is checked out, so nothing in the repository (hooks, filters, links,
// submodules) can run or reach a file. Throws GitError where git fails.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/git/commit_files.h"
#include "coordinator/specs/spec_repository.h"

namespace podium {

// A spec file as a commit has it.
struct SpecFile {
  std::string commit;
  std::string path;
  std::optional<std::string> text;  // none when it is larger than any spec may be
};

// What one commit does to the spec files.
struct SpecChanges {
  std::vector<SpecFile> files;                             // added, or with another content
  std::vector<std::pair<std::string, std::string>> moved;  // from, to: the same content at another path
  std::vector<std::string> removed;                        // paths
};

class GitMirror {
 public:
  // Opens or makes the copy in `folder`. Setting `stop` aborts a running fetch.
  GitMirror(SpecRepository repository, const std::filesystem::path& folder, const std::atomic<bool>& stop);
  ~GitMirror();

  // Fetches the branch and returns its commit.
  std::string fetch();

  // The commit that a spec of commit `at` names: a tag or branch of the repository, a commit of this branch,
  // or HEAD, which is `at`. An error suggests what there is instead.
  Result<std::string> fetch_revision(const std::string& revision, const std::string& at);

  // The commit up to which changes were handled, kept in the copy; "" at first.
  std::string done() const;
  void set_done(const std::string& commit);

  // The commits after `from` up to `to`, oldest first, along first parents; only `to` when `from` is "" or
  // the branch was rewritten.
  std::vector<std::string> commits(const std::string& from, const std::string& to) const;

  // The changes from one commit to another, with the files as `to` has them; where `from` is "", all files
  // are added.
  SpecChanges changes(const std::string& from, const std::string& to) const;

  // As files_in of common/git/commit_files.h.
  std::vector<TarEntry> files_in(const std::string& commit, const std::string& folder) const;

 private:
  struct Git;
  struct Remote;

  SpecRepository repository_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<Git> git_;
};

}  // namespace podium
