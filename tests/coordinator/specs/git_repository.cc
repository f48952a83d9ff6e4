#include "tests/coordinator/specs/git_repository.h"

#include <git2.h>

#include <array>
#include <stdexcept>

namespace podium::test {
namespace {

void require(int status) {
  if (status < 0) throw std::runtime_error(git_error_last() ? git_error_last()->message : "git failed");
}

}  // namespace

GitRepository::GitRepository() {
  git_libgit2_init();
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_MKPATH;
  options.initial_head = "main";
  require(git_repository_init_ext(&repository_, folder_.path().c_str(), &options));
}

GitRepository::~GitRepository() {
  git_repository_free(repository_);
  git_libgit2_shutdown();
}

std::string GitRepository::commit(const std::map<std::string, std::optional<std::string>>& files,
                                  const std::string& branch) {
  return write(files, branch, false, GIT_FILEMODE_BLOB);
}

std::string GitRepository::rewrite(const std::map<std::string, std::optional<std::string>>& files,
                                   const std::string& branch) {
  return write(files, branch, true, GIT_FILEMODE_BLOB);
}

void GitRepository::add_link(const std::string& path, const std::string& target, const std::string& branch) {
  write({{path, target}}, branch, false, GIT_FILEMODE_LINK);
}

void GitRepository::remove_branch(const std::string& branch) {
  require(git_reference_remove(repository_, ("refs/heads/" + branch).c_str()));
}

void GitRepository::tag(const std::string& name, const std::string& commit) {
  git_object* target = nullptr;
  require(git_revparse_single(&target, repository_, commit.c_str()));
  git_signature* tagger = nullptr;
  require(git_signature_new(&tagger, "Test", "test@example.org", 1'700'000'000, 0));
  git_oid id;
  require(git_tag_create(&id, repository_, name.c_str(), target, tagger, "a release", 0));
  git_signature_free(tagger);
  git_object_free(target);
}

std::string GitRepository::write(const std::map<std::string, std::optional<std::string>>& files,
                                 const std::string& branch, bool rooted, unsigned mode) {
  const std::string reference = "refs/heads/" + branch;
  git_oid parent_id;
  git_commit* parent = nullptr;
  if (!rooted && git_reference_name_to_id(&parent_id, repository_, reference.c_str()) == 0)
    require(git_commit_lookup(&parent, repository_, &parent_id));
  git_index* index = nullptr;
  require(git_repository_index(&index, repository_));
  require(git_index_clear(index));
  if (parent) {
    git_tree* tree = nullptr;
    require(git_commit_tree(&tree, parent));
    require(git_index_read_tree(index, tree));
    git_tree_free(tree);
  }
  for (const auto& [path, text] : files) {
    git_index_entry entry{};
    entry.mode = mode;
    entry.path = path.c_str();
    require(text ? git_index_add_from_buffer(index, &entry, text->data(), text->size())
                 : git_index_remove_bypath(index, path.c_str()));
  }
  git_oid tree_id;
  require(git_index_write_tree(&tree_id, index));
  git_index_free(index);
  git_tree* tree = nullptr;
  require(git_tree_lookup(&tree, repository_, &tree_id));
  git_signature* author = nullptr;
  require(git_signature_new(&author, "Test", "test@example.org", 1'700'000'000, 0));
  git_oid id;
  const git_commit* parents[] = {parent};
  require(git_commit_create(&id, repository_, nullptr, author, author, nullptr, "change", tree,
                            parent ? 1 : 0, parents));
  git_reference* moved = nullptr;
  require(git_reference_create(&moved, repository_, reference.c_str(), &id, 1, nullptr));
  git_reference_free(moved);
  git_signature_free(author);
  git_tree_free(tree);
  git_commit_free(parent);
  std::array<char, GIT_OID_HEXSZ + 1> hex;
  return git_oid_tostr(hex.data(), hex.size(), &id);
}

}  // namespace podium::test
