// libgit2, loaded when it is needed: it drags in a dozen libraries, whose loading would be half of what a
// call of podium costs.
#pragma once

#include <git2.h>

#include <memory>
#include <string>

#include "common/git/commit_files.h"
#include "common/git/commit_range.h"

namespace podium::cli {

// Its functions, without "git_". Ready for use while this lives.
struct GitLibrary {
  explicit GitLibrary(void* handle);
  ~GitLibrary();
  GitLibrary(const GitLibrary&) = delete;
  GitLibrary& operator=(const GitLibrary&) = delete;

  decltype(&git_libgit2_init) libgit2_init;
  decltype(&git_libgit2_shutdown) libgit2_shutdown;
  GitObjects objects;
  GitHistory history;
  decltype(&git_reference_name_to_id) reference_name_to_id;
  decltype(&git_remote_free) remote_free;
  decltype(&git_remote_lookup) remote_lookup;
  decltype(&git_remote_url) remote_url;
  decltype(&git_repository_free) repository_free;
  decltype(&git_repository_open_ext) repository_open_ext;
  decltype(&git_repository_workdir) repository_workdir;
  decltype(&git_status_file) status_file;
  decltype(&git_status_list_entrycount) status_list_entrycount;
  decltype(&git_status_list_free) status_list_free;
  decltype(&git_status_list_new) status_list_new;
};

// nullptr, and why, where it is not installed.
std::unique_ptr<GitLibrary> load_git(std::string& missing);

}  // namespace podium::cli
