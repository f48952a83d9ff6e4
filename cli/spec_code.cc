#include "cli/spec_code.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <memory>

#include "cli/failure.h"
#include "cli/git_library.h"
#include "common/model/data_path.h"
#include "common/spec/load.h"
#include "common/spec/suggest.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;

CodeSnapshot taken(Result<CodeSnapshot> code) {
  if (!code) throw Failure(Exit::refused, describe(code.errors()));
  return std::move(code).value();
}

// The folder of a spec as a commit of the repository around it has it.
class CommittedCode {
 public:
  CommittedCode(const SpecFile& spec, fs::path beside, const CodeSpec& code)
      : spec_(spec), beside_(fs::canonical(beside)), code_(code), git_(load_git(missing_)) {
    if (!git_) refuse("git", "git cannot be asked: " + missing_);
    open();
  }
  ~CommittedCode() { git_->repository_free(repository_); }
  CommittedCode(const CommittedCode&) = delete;
  CommittedCode& operator=(const CommittedCode&) = delete;

  SpecCode pack() const {
    const std::string commit = resolve();
    std::vector<TarEntry> files;
    try {
      files = files_in(git_->objects, repository_, commit, folder());
    } catch (const GitError& error) {
      refuse("folder", fmt::format("{} ({}); name a folder that it has", error.what(), code_.git));
    }
    return {taken(pack_code(std::move(files), place("folder"))), commit};
  }

 private:
  std::string place(const char* key) const {
    return place_in(spec_.text, spec_.name, std::string("/code/") + key);
  }

  [[noreturn]] void refuse(const char* key, const std::string& message) const {
    throw Failure(Exit::refused, fmt::format("{}: code.{}: {}", place(key), key, message));
  }

  void open() {
    const int status = git_->repository_open_ext(&repository_, beside_.c_str(), 0, nullptr);
    const char* root = status == 0 ? git_->repository_workdir(repository_) : nullptr;
    if (status != 0 && status != GIT_ENOTFOUND)
      refuse("git", std::string("the repository cannot be read: ") + git_->objects.error_last()->message);
    if (!root)
      refuse("git",
             fmt::format("{} lies in no git repository; commit it to one, or write code: {{folder: .}} for "
                         "the files as they are",
                         beside_.string()));
    root_ = fs::canonical(root);
  }

  std::string resolve() const {
    const std::vector<std::string> references = references_of(git_->objects, repository_);
    if (const auto unclear = ambiguity(references, code_.git))
      refuse("git", fmt::format("in {} {}", root_.string(), *unclear));
    if (const auto commit = commit_of(git_->objects, repository_, code_.git)) return *commit;
    const auto near = closest(code_.git, revision_names(references));
    refuse("git", fmt::format("\"{}\" names no commit, tag or branch of {}, or more than one; {}", code_.git,
                              root_.string(),
                              near && *near != code_.git ? "did you mean \"" + *near + "\"?"
                                                         : "git tag and git branch list them"));
  }

  // From the repository's root.
  std::string folder() const {
    const fs::path path = (beside_ / code_.folder).lexically_normal().lexically_relative(root_);
    if (leads_out_of_folder(path))
      refuse("folder", fmt::format("{} lies outside of the repository {}", code_.folder, root_.string()));
    std::string text = path.generic_string();
    if (text.ends_with('/')) text.pop_back();
    return text == "." ? "" : text;
  }

  const SpecFile& spec_;
  fs::path beside_;  // the spec's folder
  const CodeSpec& code_;
  std::string missing_;
  std::unique_ptr<GitLibrary> git_;
  git_repository* repository_ = nullptr;
  fs::path root_;
};

}  // namespace

std::optional<SpecCode> pack_spec_code(const SpecFile& spec, const std::string& path) {
  const auto loaded = load_experiment(spec.text, spec.name);
  if (!loaded) return std::nullopt;
  const CodeSpec* const code = code_of(*loaded);
  if (code == nullptr || !code->snapshot.empty()) return std::nullopt;
  const fs::path beside = path == "-" ? fs::current_path() : fs::absolute(path).parent_path();
  if (code->git.empty())
    return SpecCode{
        taken(pack_code_folder(beside / code->folder, place_in(spec.text, spec.name, "/code/folder"))), ""};
  return CommittedCode(spec, beside, *code).pack();
}

}  // namespace podium::cli
