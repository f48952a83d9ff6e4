#include "coordinator/spec_code.h"

#include "common/git/commit_files.h"
#include "common/model/data_path.h"
#include "common/net/code_snapshot.h"
#include "common/spec/load.h"
#include "coordinator/store/code_files.h"
#include "coordinator/store/reader.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

std::string place_of_folder(const SpecSubmission& submission) {
  return place_in(submission.spec, submission.file, "/code/folder");
}

Error wrong_folder(const SpecSubmission& submission, const std::string& message) {
  return {ErrorCode::invalid, "code.folder: " + message, place_of_folder(submission), "/code/folder"};
}

// The path relative to the repository's root; "" is the root. Nothing where it lies outside.
std::optional<std::string> folder_in_repository(const std::string& spec, const std::string& folder) {
  const fs::path path = (fs::path(spec).parent_path() / folder).lexically_normal();
  if (path.is_absolute() || leads_out_of_folder(path)) return std::nullopt;
  std::string text = path.generic_string();
  if (text.ends_with('/')) text.pop_back();
  return text == "." ? "" : text;
}

}  // namespace

Result<KeptCode> keep_spec_code(const SpecSubmission& submission, const fs::path& home) {
  const auto loaded = load_experiment(submission.spec, submission.file);
  const CodeSpec* const wanted = loaded ? code_of(*loaded) : nullptr;
  if (wanted == nullptr || !wanted->snapshot.empty()) return KeptCode{};
  const auto folder = folder_in_repository(submission.file, wanted->folder);
  if (!folder) return wrong_folder(submission, "the folder lies outside of the repository");
  std::vector<TarEntry> files;
  try {
    files = submission.files(*folder);
  } catch (const GitError& error) {
    return wrong_folder(submission, error.what());
  }
  const Result<CodeSnapshot> code = pack_code(std::move(files), place_of_folder(submission));
  if (!code) return code.errors();
  const auto in_use = [&] { return Reader(home).code_in_use(); };
  if (!keep_code(home / "code", code->sha256, code->packed, in_use))
    throw std::runtime_error("the code of living jobs takes all the room that there is for code");
  return KeptCode{code->sha256, wanted->git.empty() ? "" : submission.code_commit};
}

}  // namespace podium
