#include "common/git/commit_files.h"

#include <algorithm>
#include <array>
#include <memory>

namespace podium {
namespace {

void require(const GitObjects& git, int status, const std::string& what) {
  if (status >= 0) return;
  const git_error* error = git.error_last();
  throw GitError(what + ": " + (error ? error->message : "git failed"));
}

// GIT_EAMBIGUOUS: a beginning of several hashes.
bool is_missing(int status) {
  return status == GIT_ENOTFOUND || status == GIT_EINVALIDSPEC || status == GIT_EAMBIGUOUS;
}

using Object = std::unique_ptr<git_object, decltype(&git_object_free)>;

// As what `type` says; nothing where the repository has no such revision, or it is something else.
Object find(const GitObjects& git, git_repository* repository, const std::string& revision,
            git_object_t type) {
  git_object* found = nullptr;
  const int parsed = git.revparse_single(&found, repository, revision.c_str());
  if (!is_missing(parsed)) require(git, parsed, revision);
  const Object owned(found, git.object_free);
  git_object* peeled = nullptr;
  if (found) git.object_peel(&peeled, found, type);
  return {peeled, git.object_free};
}

// What lies at a path of a tree, if it is what `type` says; the tree itself for "".
Object below(const GitObjects& git, Object tree, const std::string& path, git_object_t type) {
  if (path.empty() || !tree) return tree;
  git_object* found = nullptr;
  const int status = git.object_lookup_bypath(&found, tree.get(), path.c_str(), type);
  if (!is_missing(status)) require(git, status, path);
  return {found, git.object_free};
}

std::string hash_text(const GitObjects& git, const git_object* object) {
  std::array<char, GIT_OID_HEXSZ + 1> text;
  return git.oid_tostr(text.data(), text.size(), git.object_id(object));
}

// What walking a tree gathers. No exception may cross git: what is wrong is kept.
struct Gathered {
  const GitObjects& git;
  git_repository* repository;
  std::vector<TarEntry> entries;
  std::size_t bytes = 0;
  std::string trouble;
};

int gather(const char* root, const git_tree_entry* entry, void* payload) {
  Gathered& all = *static_cast<Gathered*>(payload);
  const git_filemode_t mode = all.git.tree_entry_filemode(entry);
  if (mode == GIT_FILEMODE_TREE || mode == GIT_FILEMODE_COMMIT) return 0;  // folders come with their files
  const std::string path = std::string(root) + all.git.tree_entry_name(entry);
  git_blob* blob = nullptr;
  if (all.git.blob_lookup(&blob, all.repository, all.git.tree_entry_id(entry)) != 0) {
    all.trouble = path + " cannot be read";
    return GIT_EUSER;
  }
  const std::unique_ptr<git_blob, decltype(&git_blob_free)> owned(blob, all.git.blob_free);
  const auto size = static_cast<std::size_t>(all.git.blob_rawsize(blob));
  all.bytes += size;
  if (all.bytes > kMostFileBytes) {
    all.trouble =
        "there are more than " + std::to_string(kMostFileBytes >> 20) + " MiB, " + path + " among them";
    return GIT_EUSER;
  }
  all.entries.push_back({path, mode == GIT_FILEMODE_LINK ? TarEntry::Kind::link : TarEntry::Kind::file,
                         mode == GIT_FILEMODE_BLOB_EXECUTABLE,
                         std::string(static_cast<const char*>(all.git.blob_rawcontent(blob)), size)});
  return 0;
}

}  // namespace

std::string short_name(const std::string& reference) {
  for (const std::string_view prefix : {"refs/tags/", "refs/heads/", "refs/remotes/"})
    if (reference.starts_with(prefix)) return reference.substr(prefix.size());
  return "";
}

std::vector<std::string> references_of(const GitObjects& git, git_repository* repository) {
  git_strarray all{};
  require(git, git.reference_list(&all, repository), "listing branches and tags");
  std::vector<std::string> references(all.strings, all.strings + all.count);
  git.strarray_dispose(&all);
  return references;
}

std::vector<std::string> revision_names(const std::vector<std::string>& references) {
  std::vector<std::string> names;
  for (const std::string& reference : references)
    if (std::string name = short_name(reference); !name.empty()) names.push_back(std::move(name));
  return names;
}

std::optional<std::string> ambiguity(const std::vector<std::string>& references,
                                     const std::string& revision) {
  const std::string name = revision.substr(0, revision.find_first_of("~^:"));  // of "v1.2~3"
  const std::string tag = "refs/tags/" + name, branch = "refs/heads/" + name;
  if (std::ranges::count(references, tag) == 0 || std::ranges::count(references, branch) == 0)
    return std::nullopt;
  return "\"" + name + "\" is a tag and a branch; write " + tag + " or " + branch;
}

std::optional<std::string> commit_of(const GitObjects& git, git_repository* repository,
                                     const std::string& revision) {
  const Object commit = find(git, repository, revision, GIT_OBJECT_COMMIT);
  if (!commit) return std::nullopt;
  return hash_text(git, commit.get());
}

std::optional<CommitObject> object_at(const GitObjects& git, git_repository* repository,
                                      const std::string& commit, const std::string& path) {
  const Object object = below(git, find(git, repository, commit, GIT_OBJECT_TREE), path, GIT_OBJECT_ANY);
  if (!object) return std::nullopt;
  CommitObject out{hash_text(git, object.get()), std::nullopt};
  git_blob* blob = nullptr;
  if (git.blob_lookup(&blob, repository, git.object_id(object.get())) != 0) return out;
  const std::unique_ptr<git_blob, decltype(&git_blob_free)> owned(blob, git.blob_free);
  out.text.emplace(static_cast<const char*>(git.blob_rawcontent(blob)),
                   static_cast<std::size_t>(git.blob_rawsize(blob)));
  return out;
}

std::vector<TarEntry> files_in(const GitObjects& git, git_repository* repository, const std::string& commit,
                               const std::string& folder) {
  const Object tree = below(git, find(git, repository, commit, GIT_OBJECT_TREE), folder, GIT_OBJECT_TREE);
  if (!tree) throw GitError("commit " + commit + " has no folder " + (folder.empty() ? "." : folder));
  Gathered all{git, repository, {}, 0, ""};
  const int walked =
      git.tree_walk(reinterpret_cast<const git_tree*>(tree.get()), GIT_TREEWALK_PRE, gather, &all);
  if (!all.trouble.empty())
    throw GitError("commit " + commit + ", folder " + (folder.empty() ? "." : folder) + ": " + all.trouble);
  require(git, walked, "reading the files of commit " + commit);
  return std::move(all.entries);
}

}  // namespace podium
