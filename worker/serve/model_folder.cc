#include "worker/serve/model_folder.h"

#include <algorithm>

#include "worker/serve/request_fields.h"

namespace podium {

namespace fs = std::filesystem;

Result<fs::path> folder_to_load(const nlohmann::json& body, const fs::path& root) {
  RequestFields fields(body, {"folder"});
  const std::string given = fields.text("folder");
  if (!fields.errors().empty()) return fields.errors();
  std::error_code missing;
  const fs::path folder = fs::canonical(root / given, missing), top = fs::canonical(root);
  const bool within = std::ranges::mismatch(top, folder).in1 == top.end();
  if (missing || !within || !fs::is_directory(folder)) {
    fields.refuse("must be a folder within " + top.string(), "folder");
    return fields.errors();
  }
  return folder;
}

}  // namespace podium
