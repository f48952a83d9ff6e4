#include "coordinator/specs/spec_repository.h"

#include <algorithm>

#include "common/git/url.h"

namespace podium {
namespace {

std::string take_part(std::string_view& text) {
  const auto comma = std::min(text.find(','), text.size());
  std::string part(text.substr(0, comma));
  text.remove_prefix(std::min(comma + 1, text.size()));
  return part;
}

// "https://host/team/specs.git/" -> "specs"
std::string name_of(std::string url) {
  while (!url.empty() && url.back() == '/') url.pop_back();
  std::string name = url.substr(url.find_last_of("/:") + 1);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  return name;
}

bool is_name(const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.front() != '.' && name.size() <= 64 &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

Result<SpecRepository> parse_spec_repository(std::string_view text) {
  const std::string whole = without_credentials(std::string(text));
  const auto mistake = [&](const std::string& message) {
    return Error{ErrorCode::invalid, "specs repository \"" + whole + "\": " + message};
  };
  SpecRepository repository;
  repository.remote = take_part(text);
  repository.url = without_credentials(repository.remote);
  if (repository.url.empty())
    return mistake(
        "the URL is missing; write URL[,branch=NAME][,files=PATHSPEC][,name=NAME][,existing=leave|submit]");
  std::string existing = "leave";
  while (!text.empty()) {
    const std::string part = take_part(text);
    const auto equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    std::string* field = key == "branch"     ? &repository.branch
                         : key == "files"    ? &repository.files
                         : key == "name"     ? &repository.name
                         : key == "existing" ? &existing
                                             : nullptr;
    if (!field) return mistake("\"" + key + "\" is not known; it may be branch, files, name or existing");
    if (value.empty()) return mistake(key + " is empty");
    *field = value;
  }
  if (existing != "leave" && existing != "submit") return mistake("existing must be leave or submit");
  repository.submit_existing = existing == "submit";
  if (repository.name.empty()) repository.name = name_of(repository.url);
  if (!is_name(repository.name))
    return mistake("the name \"" + repository.name +
                   "\" may hold only letters, digits, . _ and -; add name=NAME");
  return repository;
}

}  // namespace podium
