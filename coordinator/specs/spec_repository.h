// A git repository whose committed specs become experiments.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

struct SpecRepository {
  std::string name;    // of its folder and in idempotency keys: letters, digits, . _ -
  std::string url;     // a local path or anything git can fetch; without a password, because it is shown
  std::string branch;  // "": the repository's own default
  std::string files =
      "*.yaml";  // a git pathspec; "*" also crosses folders: "specs/*.yaml" takes specs/a/b.yaml
  bool submit_existing = false;  // also the specs that are there at first
  std::string remote = "";       // the URL to fetch from, with its password; "": url
};

// "URL[,branch=NAME][,files=PATHSPEC][,name=NAME][,existing=leave|submit]"; the name is the URL's last part
// unless given.
Result<SpecRepository> parse_spec_repository(std::string_view text);

}  // namespace podium
