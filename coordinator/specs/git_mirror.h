// A bare copy of one branch of a repository. Only its objects are read: nothing is ever checked out, so
// nothing in the repository (hooks, filters, links, submodules) can run or reach a file. Throws GitError when
// git fails.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "coordinator/specs/spec_repository.h"

namespace podium {

class GitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A spec file as a commit has it.
struct SpecFile {
  std::string commit;
  std::string path;
  std::optional<std::string> text;  // none when it is larger than any spec may be
};

class GitMirror {
 public:
  // Opens or makes the copy in `folder`. Setting `stop` ends a fetch under way.
  GitMirror(SpecRepository repository, const std::filesystem::path& folder, const std::atomic<bool>& stop);
  ~GitMirror();

  // Brings the branch up to date and returns its commit.
  std::string fetch();

  // The commit up to which changes were dealt with, kept in the copy; "" at first.
  std::string done() const;
  void set_done(const std::string& commit);

  // The commits after `from` up to `to`, oldest first, along first parents; only `to` when `from` is "" or
  // the branch was rewritten.
  std::vector<std::string> commits(const std::string& from, const std::string& to) const;

  // The spec files that differ between two commits, as `to` has them, deleted ones left out; all of them when
  // `from` is "".
  std::vector<SpecFile> changed(const std::string& from, const std::string& to) const;

 private:
  struct Git;
  std::string remote_branch() const;

  SpecRepository repository_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<Git> git_;
};

}  // namespace podium
