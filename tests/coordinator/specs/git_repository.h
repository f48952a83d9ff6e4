// A real git repository of a test's own, written commit by commit.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "tests/temp_folder.h"

struct git_repository;

namespace podium::test {

class GitRepository {
 public:
  GitRepository();
  ~GitRepository();

  // Writes (or, with nothing, removes) the files and commits them on `branch`; returns the commit.
  std::string commit(const std::map<std::string, std::optional<std::string>>& files,
                     const std::string& branch = "main");
  // Makes `branch` point at an unrelated first commit with these files.
  std::string rewrite(const std::map<std::string, std::optional<std::string>>& files,
                      const std::string& branch = "main");
  void add_link(const std::string& path, const std::string& target, const std::string& branch = "main");
  void remove_branch(const std::string& branch);
  // An annotated tag.
  void tag(const std::string& name, const std::string& commit);

  std::string path() const { return folder_.path().string(); }

 private:
  std::string write(const std::map<std::string, std::optional<std::string>>& files, const std::string& branch,
                    bool rooted, unsigned mode);

  TempFolder folder_;
  git_repository* repository_ = nullptr;
};

}  // namespace podium::test
