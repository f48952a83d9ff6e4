// A spec over the commits of its repository: what can be submitted of each, from the objects alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/git_library.h"
#include "common/net/code_snapshot.h"

namespace podium::cli {

// A commit that changed what a job of the spec is: the spec's text, or the folder that it names under code.
struct SpecVersion {
  Commit commit;
  std::optional<std::string> text;  // nothing where the commit has no such file
  std::optional<std::string> code;  // folder from the repository's root, to be packed as this commit has it
  std::string content;              // alike of versions whose jobs are
};

class SpecHistory {
 public:
  // `folder` lies in the repository. Throws Failure.
  SpecHistory(const std::string& folder, std::string path);
  ~SpecHistory();
  SpecHistory(const SpecHistory&) = delete;
  SpecHistory& operator=(const SpecHistory&) = delete;

  // After `good`, up to `bad`, on the main line, oldest first; of commits in a row with one content the
  // first. Throws Failure where the repository lacks one of them, or the good one does not come before the
  // bad one.
  std::vector<SpecVersion> versions(const std::string& good, const std::string& bad) const;

  CodeSnapshot pack(const SpecVersion& version) const;

 private:
  SpecVersion read(const Commit& commit) const;

  std::string path_;  // of the spec, from the repository's root
  std::string missing_;
  std::unique_ptr<GitLibrary> git_;
  git_repository* repository_ = nullptr;
};

}  // namespace podium::cli
