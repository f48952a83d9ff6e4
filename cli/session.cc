#include "cli/session.h"

#include <cstdlib>
#include <filesystem>

#include "common/base/file.h"

namespace podium::cli {
namespace {

std::string read_token(const std::filesystem::path& path) {
  std::string token = read_file(path);
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty()) throw Failure(Exit::usage, path.string() + " holds no token");
  return token;
}

}  // namespace

std::string find_token(const Session& session) {
  if (!session.token_file.empty()) return read_token(session.token_file);
  if (const char* token = std::getenv("PODIUM_TOKEN"); token && *token) return token;
  const char* home = std::getenv("PODIUM_HOME");
  const auto path = std::filesystem::path(home && *home ? home : ".podium") / "user.token";
  return std::filesystem::exists(path) ? read_token(path) : "";
}

}  // namespace podium::cli
