// The daemon's routes and the operations of schemas/openapi.yaml are the same, and guarded by the same
// tokens.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/api/router.h"
#include "tests/paths.h"

namespace podium {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// {} is no security, "-" an empty alternative: "- agent user" is what may be read with either token or none.
std::string guards_of(const YAML::Node& security) {
  std::set<std::string> guards;
  for (const YAML::Node& alternative : security) {
    if (alternative.size() == 0) guards.insert("-");
    for (const auto& scheme : alternative) guards.insert(scheme.first.as<std::string>());
  }
  std::string text;
  for (const std::string& guard : guards) text += (text.empty() ? "" : " ") + guard;
  return text;
}

std::string guards_of(Audience audience) {
  switch (audience) {
    case Audience::open:
      return "";
    case Audience::read:
      return "- agent user";
    case Audience::user:
      return "user";
    case Audience::agent:
      return "agent";
  }
  return "unknown";
}

using Operations = std::map<std::string, std::string>;  // "GET /jobs" -> guards

Operations described() {
  Operations operations;
  const YAML::Node document = YAML::LoadFile(test::source_path("schemas/openapi.yaml"));
  for (const auto& path : document["paths"])
    for (const auto& operation : path.second)
      operations[upper(operation.first.as<std::string>()) + " " + path.first.as<std::string>()] =
          guards_of(operation.second["security"]);
  return operations;
}

TEST(Routes, AreThoseOfTheDescription) {
  Operations served;
  for (const Route& route : routes())
    served[std::string(route.method) + " " + std::string(route.pattern)] = guards_of(route.audience);
  EXPECT_GE(served.size(), 18u);
  EXPECT_EQ(served, described());
}

}  // namespace
}  // namespace podium
