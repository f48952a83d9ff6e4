#include "coordinator/specs/git_mirror.h"

#include <git2.h>

#include <algorithm>
#include <array>

#include "common/spec/load.h"

namespace podium {
namespace {

constexpr const char* kBranchRef = "refs/podium/branch";
constexpr const char* kDoneRef = "refs/podium/done";
constexpr std::size_t kMostCommits = 1000;  // of one poll; older ones are passed over

void require(int status, const std::string& what) {
  if (status >= 0) return;
  const git_error* error = git_error_last();
  throw GitError(what + ": " + (error ? error->message : "git failed"));
}

struct Free {
  void operator()(git_repository* it) const { git_repository_free(it); }
  void operator()(git_remote* it) const { git_remote_free(it); }
  void operator()(git_revwalk* it) const { git_revwalk_free(it); }
  void operator()(git_commit* it) const { git_commit_free(it); }
  void operator()(git_tree* it) const { git_tree_free(it); }
  void operator()(git_diff* it) const { git_diff_free(it); }
  void operator()(git_blob* it) const { git_blob_free(it); }
  void operator()(git_reference* it) const { git_reference_free(it); }
};

template <class Object>
using Owned = std::unique_ptr<Object, Free>;

git_oid oid_of(const std::string& commit) {
  git_oid oid;
  require(git_oid_fromstr(&oid, commit.c_str()), "commit " + commit);
  return oid;
}

std::string hex(const git_oid& oid) {
  std::array<char, GIT_OID_HEXSZ + 1> text;
  return git_oid_tostr(text.data(), text.size(), &oid);
}

int check_stop(const git_indexer_progress*, void* stop) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? GIT_EUSER : 0;
}

// Only an agent's key: Podium keeps no passwords of repositories.
int ask_ssh_agent(git_credential** out, const char*, const char* user, unsigned int allowed, void*) {
  if (!(allowed & GIT_CREDENTIAL_SSH_KEY)) return GIT_PASSTHROUGH;
  return git_credential_ssh_key_from_agent(out, user ? user : "git");
}

git_remote_callbacks callbacks(const std::atomic<bool>& stop) {
  git_remote_callbacks callbacks = GIT_REMOTE_CALLBACKS_INIT;
  callbacks.transfer_progress = check_stop;
  callbacks.credentials = ask_ssh_agent;
  callbacks.payload = const_cast<std::atomic<bool>*>(&stop);
  return callbacks;
}

Owned<git_tree> tree_of(git_repository* repository, const std::string& commit) {
  if (commit.empty()) return nullptr;
  const git_oid oid = oid_of(commit);
  git_commit* found = nullptr;
  require(git_commit_lookup(&found, repository, &oid), "commit " + commit);
  const Owned<git_commit> owned(found);
  git_tree* tree = nullptr;
  require(git_commit_tree(&tree, found), "commit " + commit);
  return Owned<git_tree>(tree);
}

std::optional<std::string> text_of(git_repository* repository, const git_oid& oid, const std::string& path) {
  git_blob* blob = nullptr;
  require(git_blob_lookup(&blob, repository, &oid), path);
  const Owned<git_blob> owned(blob);
  const auto size = static_cast<std::size_t>(git_blob_rawsize(blob));
  if (size > kMaxSpecBytes) return std::nullopt;
  return std::string(static_cast<const char*>(git_blob_rawcontent(blob)), size);
}

bool is_plain_file(const git_diff_file& file) {
  return file.mode == GIT_FILEMODE_BLOB || file.mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

}  // namespace

struct GitMirror::Git {
  Git() { git_libgit2_init(); }
  ~Git() {
    repository.reset();
    git_libgit2_shutdown();
  }

  Owned<git_repository> repository;
};

GitMirror::GitMirror(SpecRepository repository, const std::filesystem::path& folder,
                     const std::atomic<bool>& stop)
    : repository_(std::move(repository)), stop_(stop), git_(std::make_unique<Git>()) {
  std::filesystem::create_directories(folder);
  git_repository* opened = nullptr;
  require(git_repository_init(&opened, folder.c_str(), 1), folder.string());
  git_->repository.reset(opened);
}

GitMirror::~GitMirror() = default;

std::string GitMirror::fetch() {
  const bool is_path = repository_.url.find(':') == std::string::npos;
  if (is_path && !std::filesystem::exists(repository_.url))
    throw GitError(repository_.url + " does not exist");
  git_remote* remote = nullptr;
  require(git_remote_create_anonymous(&remote, git_->repository.get(), repository_.url.c_str()),
          repository_.url);
  const Owned<git_remote> owned(remote);
  const git_remote_callbacks calls = callbacks(stop_);
  require(git_remote_connect(remote, GIT_DIRECTION_FETCH, &calls, nullptr, nullptr), repository_.url);
  std::string branch = "refs/heads/" + repository_.branch;
  if (repository_.branch.empty()) {
    git_buf name = GIT_BUF_INIT_CONST("", 0);
    require(git_remote_default_branch(&name, remote),
            repository_.url + " has no default branch; name one with branch=NAME");
    branch.assign(name.ptr, name.size);
    git_buf_dispose(&name);
  }
  std::string refspec = "+" + branch + ":" + kBranchRef;
  char* const refspecs[] = {refspec.data()};
  const git_strarray wanted{const_cast<char**>(refspecs), 1};
  git_fetch_options options = GIT_FETCH_OPTIONS_INIT;
  options.callbacks = calls;
  options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
  git_reference_remove(git_->repository.get(), kBranchRef);  // a branch that is gone must not look unchanged
  require(git_remote_fetch(remote, &wanted, &options, nullptr), repository_.url);
  git_oid commit;
  require(git_reference_name_to_id(&commit, git_->repository.get(), kBranchRef),
          repository_.url + " has no branch " + branch);
  return hex(commit);
}

std::string GitMirror::done() const {
  git_oid commit;
  return git_reference_name_to_id(&commit, git_->repository.get(), kDoneRef) == 0 ? hex(commit) : "";
}

void GitMirror::set_done(const std::string& commit) {
  const git_oid oid = oid_of(commit);
  git_reference* reference = nullptr;
  require(git_reference_create(&reference, git_->repository.get(), kDoneRef, &oid, 1, nullptr),
          "noting commit " + commit);
  git_reference_free(reference);
}

std::vector<std::string> GitMirror::commits(const std::string& from, const std::string& to) const {
  if (from == to) return {};
  if (from.empty()) return {to};
  const git_oid begin = oid_of(from);
  const git_oid end = oid_of(to);
  if (git_graph_descendant_of(git_->repository.get(), &end, &begin) != 1) return {to};
  git_revwalk* walk = nullptr;
  require(git_revwalk_new(&walk, git_->repository.get()), repository_.url);
  const Owned<git_revwalk> owned(walk);
  require(git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL), repository_.url);
  require(git_revwalk_simplify_first_parent(walk), repository_.url);
  require(git_revwalk_push(walk, &end), repository_.url);
  require(git_revwalk_hide(walk, &begin), repository_.url);
  std::vector<std::string> found;
  git_oid oid;
  while (found.size() < kMostCommits && git_revwalk_next(&oid, walk) == 0) found.push_back(hex(oid));
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<SpecFile> GitMirror::changed(const std::string& from, const std::string& to) const {
  git_repository* repository = git_->repository.get();
  const Owned<git_tree> before = tree_of(repository, from);
  const Owned<git_tree> after = tree_of(repository, to);
  std::string pathspec = repository_.files;
  char* specs[] = {pathspec.data()};
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.pathspec = {specs, 1};
  git_diff* diff = nullptr;
  require(git_diff_tree_to_tree(&diff, repository, before.get(), after.get(), &options), "commit " + to);
  const Owned<git_diff> owned(diff);
  std::vector<SpecFile> files;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    const git_diff_file& file = git_diff_get_delta(diff, i)->new_file;
    if (is_plain_file(file) && !git_oid_is_zero(&file.id))
      files.push_back({to, file.path, text_of(repository, file.id, file.path)});
  }
  return files;
}

}  // namespace podium
