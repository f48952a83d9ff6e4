#include "coordinator/specs/git_mirror.h"

#include <git2.h>

#include <algorithm>
#include <array>

#include "common/spec/load.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

constexpr const char* kBranchRef = "refs/podium/branch";
constexpr const char* kDoneRef = "refs/podium/done";
constexpr const char* kCodeRef = "refs/podium/code";
constexpr std::size_t kMostCommits = 1000;  // of one poll; older ones are passed over

constexpr GitObjects kGit{
    git_blob_free,        git_blob_lookup,         git_blob_rawcontent, git_blob_rawsize,
    git_error_last,       git_object_free,         git_object_id,       git_object_lookup_bypath,
    git_object_peel,      git_oid_tostr,           git_reference_list,  git_revparse_single,
    git_strarray_dispose, git_tree_entry_filemode, git_tree_entry_id,   git_tree_entry_name,
    git_tree_walk};

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

std::optional<std::string> commit_with_hash(git_repository* repository, const std::string& hash) {
  if (hash.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return std::nullopt;
  return commit_of(kGit, repository, hash);
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

// The repository that is copied, connected.
struct GitMirror::Remote {
  Remote(git_repository* to, const SpecRepository& from, const std::atomic<bool>& stop)
      : copy(to), url(from.url), calls(callbacks(stop)) {
    if (url.find(':') == std::string::npos && !std::filesystem::exists(url))
      throw GitError(url + " does not exist");
    git_remote* made = nullptr;
    const std::string& address = from.remote.empty() ? url : from.remote;
    require(git_remote_create_anonymous(&made, copy, address.c_str()), url);
    remote.reset(made);
    require(git_remote_connect(made, GIT_DIRECTION_FETCH, &calls, nullptr, nullptr), url);
  }

  std::string default_branch() const {
    git_buf name = GIT_BUF_INIT_CONST("", 0);
    require(git_remote_default_branch(&name, remote.get()),
            url + " has no default branch; name one with branch=NAME");
    std::string branch(name.ptr, name.size);
    git_buf_dispose(&name);
    return branch;
  }

  std::vector<std::string> references() const {
    const git_remote_head** heads = nullptr;
    std::size_t count = 0;
    require(git_remote_ls(&heads, &count, remote.get()), url);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.emplace_back(heads[i]->name);
    return names;
  }

  // Into the reference `to`, which does not outlast one that is gone.
  void download(const std::string& reference, const char* to) const {
    std::string refspec = "+" + reference + ":" + to;
    char* const refspecs[] = {refspec.data()};
    const git_strarray wanted{const_cast<char**>(refspecs), 1};
    git_fetch_options options = GIT_FETCH_OPTIONS_INIT;
    options.callbacks = calls;
    options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
    git_reference_remove(copy, to);
    require(git_remote_fetch(remote.get(), &wanted, &options, nullptr), url);
  }

  git_repository* copy;
  const std::string& url;
  const git_remote_callbacks calls;
  Owned<git_remote> remote;
};

std::string GitMirror::fetch() {
  const Remote remote(git_->repository.get(), repository_, stop_);
  const std::string branch =
      repository_.branch.empty() ? remote.default_branch() : "refs/heads/" + repository_.branch;
  remote.download(branch, kBranchRef);
  git_oid commit;
  if (git_reference_name_to_id(&commit, git_->repository.get(), kBranchRef) != 0)
    throw GitError(repository_.url + " has no branch " + short_name(branch) +
                   "; name another with branch=NAME");
  return hex(commit);
}

Result<std::string> GitMirror::fetch_revision(const std::string& revision, const std::string& at) {
  if (revision == "HEAD") return at;
  git_repository* copy = git_->repository.get();
  const Remote remote(copy, repository_, stop_);
  const std::vector<std::string> references = remote.references();
  if (const auto unclear = ambiguity(references, revision))
    return Error{ErrorCode::invalid, "in " + repository_.url + " " + *unclear};
  std::optional<std::string> commit;
  for (const char* kind : {"", "refs/heads/", "refs/tags/"}) {
    const std::string reference = kind + revision;
    if (short_name(reference).empty() || std::ranges::count(references, reference) == 0) continue;
    remote.download(reference, kCodeRef);
    commit = commit_of(kGit, copy, kCodeRef);
  }
  if (!commit) commit = commit_with_hash(copy, revision);
  if (commit) return *commit;
  const auto near = closest(revision, revision_names(references));
  return Error{ErrorCode::invalid, repository_.url + " has no tag or branch \"" + revision +
                                       "\", nor has the watched branch such a commit" +
                                       (near ? "; did you mean \"" + *near + "\"?" : "")};
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

SpecChanges GitMirror::changes(const std::string& from, const std::string& to) const {
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
  git_diff_find_options moves = GIT_DIFF_FIND_OPTIONS_INIT;
  moves.flags = GIT_DIFF_FIND_RENAMES | GIT_DIFF_FIND_EXACT_MATCH_ONLY;
  require(git_diff_find_similar(diff, &moves), "commit " + to);
  SpecChanges changes;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    const git_diff_delta& delta = *git_diff_get_delta(diff, i);
    const git_diff_file& file = delta.new_file;
    if (delta.status == GIT_DELTA_RENAMED)
      changes.moved.emplace_back(delta.old_file.path, file.path);
    else if (delta.status == GIT_DELTA_DELETED)
      changes.removed.emplace_back(file.path);
    else if (is_plain_file(file) && !git_oid_equal(&delta.old_file.id, &file.id))
      changes.files.push_back({to, file.path, text_of(repository, file.id, file.path)});
  }
  return changes;
}

std::vector<TarEntry> GitMirror::files_in(const std::string& commit, const std::string& folder) const {
  return podium::files_in(kGit, git_->repository.get(), commit, folder);
}

}  // namespace podium
