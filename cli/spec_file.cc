#include "cli/spec_file.h"

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/failure.h"
#include "cli/git_library.h"
#include "common/base/file.h"
#include "common/git/url.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

template <class Git>
using Owned = std::unique_ptr<Git, void (*)(Git*)>;

std::string repository_name(const GitLibrary& git, git_repository* repository) {
  git_remote* remote = nullptr;
  if (git.remote_lookup(&remote, repository, "origin") == 0) {
    const Owned<git_remote> owned(remote, git.remote_free);
    if (const char* url = git.remote_url(remote)) return without_credentials(url);
  }
  const char* folder = git.repository_workdir(repository);
  return folder ? fs::path(folder).parent_path().string() : "";
}

// Whether anything tracked differs from the commit, or the spec itself is not committed.
bool is_dirty(const GitLibrary& git, git_repository* repository, const std::string& spec) {
  unsigned int flags = 0;
  if (git.status_file(&flags, repository, spec.c_str()) != 0 || flags != GIT_STATUS_CURRENT) return true;
  git_status_options options = GIT_STATUS_OPTIONS_INIT;
  options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
  options.flags = 0;
  git_status_list* list = nullptr;
  if (git.status_list_new(&list, repository, &options) != 0) return true;
  const Owned<git_status_list> owned(list, git.status_list_free);
  return git.status_list_entrycount(list) > 0;
}

// Looked for before libgit2 is touched: loading it, and its start, which parses the system's certificates,
// take longer than all the rest of a submission.
bool in_a_repository(fs::path folder) {
  for (; !fs::exists(folder / ".git"); folder = folder.parent_path())
    if (folder == folder.parent_path()) return false;
  return true;
}

std::string last_error(const GitLibrary& git) {
  const git_error* error = git.objects.error_last();
  return error ? error->message : "unknown error";
}

}  // namespace

SpecFile read_spec_file(const std::string& path) {
  if (path == "-") return {"<stdin>", {std::istreambuf_iterator<char>(std::cin), {}}};
  if (!fs::is_regular_file(path))
    throw Failure(Exit::usage, path + " is not a file; name a spec such as configs/quickstart.yaml");
  return {path, read_file(path)};
}

json find_source(const std::string& path, std::string& warning) {
  if (path == "-") return nullptr;
  const fs::path file = fs::weakly_canonical(path);
  if (!in_a_repository(file.parent_path())) return nullptr;
  std::string missing;
  const std::unique_ptr<GitLibrary> loaded = load_git(missing);
  if (!loaded) {
    warning = "the commit is not recorded: " + missing;
    return nullptr;
  }
  const GitLibrary& git = *loaded;
  git_repository* found = nullptr;
  const int opened = git.repository_open_ext(&found, file.parent_path().c_str(), 0, nullptr);
  if (opened == GIT_ENOTFOUND) return nullptr;
  if (opened != 0) {
    warning = "the commit is not recorded: " + last_error(git);
    return nullptr;
  }
  const Owned<git_repository> repository(found, git.repository_free);
  git_oid commit;
  const char* folder = git.repository_workdir(found);
  if (!folder || git.reference_name_to_id(&commit, found, "HEAD") != 0) {
    warning = "the commit is not recorded: its repository has none yet";
    return nullptr;
  }
  const std::string inside = file.lexically_relative(fs::weakly_canonical(folder)).generic_string();
  char hash[GIT_OID_HEXSZ + 1];
  return {{"repository", repository_name(git, found)},
          {"commit", git.objects.oid_tostr(hash, sizeof hash, &commit)},
          {"path", inside},
          {"dirty", is_dirty(git, found, inside)}};
}

}  // namespace podium::cli
