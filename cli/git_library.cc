#include "cli/git_library.h"

#include <dlfcn.h>

#include "common/base/check.h"

namespace podium::cli {
namespace {

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  PODIUM_CHECK(function != nullptr, std::string(PODIUM_LIBGIT2 " has no ") + name);
}

void find_objects(void* handle, GitObjects& objects) {
  find(handle, "git_blob_free", objects.blob_free);
  find(handle, "git_blob_lookup", objects.blob_lookup);
  find(handle, "git_blob_rawcontent", objects.blob_rawcontent);
  find(handle, "git_blob_rawsize", objects.blob_rawsize);
  find(handle, "git_error_last", objects.error_last);
  find(handle, "git_object_free", objects.object_free);
  find(handle, "git_object_id", objects.object_id);
  find(handle, "git_object_lookup_bypath", objects.object_lookup_bypath);
  find(handle, "git_object_peel", objects.object_peel);
  find(handle, "git_oid_tostr", objects.oid_tostr);
  find(handle, "git_reference_list", objects.reference_list);
  find(handle, "git_revparse_single", objects.revparse_single);
  find(handle, "git_strarray_dispose", objects.strarray_dispose);
  find(handle, "git_tree_entry_filemode", objects.tree_entry_filemode);
  find(handle, "git_tree_entry_id", objects.tree_entry_id);
  find(handle, "git_tree_entry_name", objects.tree_entry_name);
  find(handle, "git_tree_walk", objects.tree_walk);
}

void find_history(void* handle, GitHistory& history) {
  find(handle, "git_commit_author", history.commit_author);
  find(handle, "git_commit_free", history.commit_free);
  find(handle, "git_commit_lookup", history.commit_lookup);
  find(handle, "git_commit_summary", history.commit_summary);
  find(handle, "git_commit_time", history.commit_time);
  find(handle, "git_oid_fromstr", history.oid_fromstr);
  find(handle, "git_oid_tostr", history.oid_tostr);
  find(handle, "git_revwalk_free", history.revwalk_free);
  find(handle, "git_revwalk_hide", history.revwalk_hide);
  find(handle, "git_revwalk_new", history.revwalk_new);
  find(handle, "git_revwalk_next", history.revwalk_next);
  find(handle, "git_revwalk_push", history.revwalk_push);
  find(handle, "git_revwalk_simplify_first_parent", history.revwalk_simplify_first_parent);
  find(handle, "git_revwalk_sorting", history.revwalk_sorting);
}

}  // namespace

GitLibrary::GitLibrary(void* handle) {
  find(handle, "git_libgit2_init", libgit2_init);
  find(handle, "git_libgit2_shutdown", libgit2_shutdown);
  find_objects(handle, objects);
  find_history(handle, history);
  find(handle, "git_reference_name_to_id", reference_name_to_id);
  find(handle, "git_remote_free", remote_free);
  find(handle, "git_remote_lookup", remote_lookup);
  find(handle, "git_remote_url", remote_url);
  find(handle, "git_repository_free", repository_free);
  find(handle, "git_repository_open_ext", repository_open_ext);
  find(handle, "git_repository_workdir", repository_workdir);
  find(handle, "git_status_file", status_file);
  find(handle, "git_status_list_entrycount", status_list_entrycount);
  find(handle, "git_status_list_free", status_list_free);
  find(handle, "git_status_list_new", status_list_new);
  libgit2_init();
}

GitLibrary::~GitLibrary() { libgit2_shutdown(); }

std::unique_ptr<GitLibrary> load_git(std::string& missing) {
  // Never unloaded: the process ends soon.
  void* handle = ::dlopen(PODIUM_LIBGIT2, RTLD_NOW | RTLD_LOCAL);
  if (handle) return std::make_unique<GitLibrary>(handle);
  missing = std::string(::dlerror()) + "; install libgit2";
  return nullptr;
}

}  // namespace podium::cli
