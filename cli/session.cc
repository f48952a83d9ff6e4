#include "cli/session.h"

#include <cstdlib>
#include <filesystem>

#include "common/net/token.h"

namespace podium::cli {
namespace {

std::string token_in(const std::filesystem::path& file) {
  std::string token = read_token(file);
  if (token.empty()) throw Failure(Exit::usage, file.string() + " holds no token");
  return token;
}

}  // namespace

std::string find_token(const Session& session) {
  if (!session.token_file.empty()) return token_in(session.token_file);
  if (const char* token = std::getenv("PODIUM_TOKEN"); token && *token) return token;
  const char* home = std::getenv("PODIUM_HOME");
  const auto path = std::filesystem::path(home && *home ? home : ".podium") / "user.token";
  return std::filesystem::exists(path) ? token_in(path) : "";
}

}  // namespace podium::cli
