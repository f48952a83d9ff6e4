// The files of a commit in a git repository, from its objects alone. Nothing is checked out, so nothing in
// the repository (hooks, filters, links, submodules) can run or reach a file. Throws GitError where git
// fails.
#pragma once

#include <git2.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/tar.h"

namespace podium {

class GitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// libgit2's functions, without "git_": linked or loaded, as the program has them.
struct GitObjects {
  decltype(&git_blob_free) blob_free;
  decltype(&git_blob_lookup) blob_lookup;
  decltype(&git_blob_rawcontent) blob_rawcontent;
  decltype(&git_blob_rawsize) blob_rawsize;
  decltype(&git_error_last) error_last;
  decltype(&git_object_free) object_free;
  decltype(&git_object_id) object_id;
  decltype(&git_object_lookup_bypath) object_lookup_bypath;
  decltype(&git_object_peel) object_peel;
  decltype(&git_oid_tostr) oid_tostr;
  decltype(&git_reference_list) reference_list;
  decltype(&git_revparse_single) revparse_single;
  decltype(&git_strarray_dispose) strarray_dispose;
  decltype(&git_tree_entry_filemode) tree_entry_filemode;
  decltype(&git_tree_entry_id) tree_entry_id;
  decltype(&git_tree_entry_name) tree_entry_name;
  decltype(&git_tree_walk) tree_walk;
};

// "main" of "refs/heads/main", "v1.2" of "refs/tags/v1.2"; "" of any other reference.
std::string short_name(const std::string& reference);

// All references of a repository, in full.
std::vector<std::string> references_of(const GitObjects& git, git_repository* repository);

// The names of the tags and branches among them, as people write them.
std::vector<std::string> revision_names(const std::vector<std::string>& references);

// Why a revision is ambiguous: it names a tag and a branch. Git takes the tag silently.
std::optional<std::string> ambiguity(const std::vector<std::string>& references, const std::string& revision);

// The full hash of the commit that a revision (a commit, tag or branch) names. Nothing where there is none,
// or several.
std::optional<std::string> commit_of(const GitObjects& git, git_repository* repository,
                                     const std::string& revision);

// What a path is in a commit.
struct CommitObject {
  std::string id;                   // changes with every byte of the object and of what it contains
  std::optional<std::string> text;  // of a file
};

// Nothing where the commit has no such path. "" is its root.
std::optional<CommitObject> object_at(const GitObjects& git, git_repository* repository,
                                      const std::string& commit, const std::string& path);

constexpr std::size_t kMostFileBytes = 64 << 20;

// All files and links below a folder ("" for the root) as of a commit, with paths relative to it, at most
// kMostFileBytes. Submodules are left out.
std::vector<TarEntry> files_in(const GitObjects& git, git_repository* repository, const std::string& commit,
                               const std::string& folder);

}  // namespace podium
