#include "coordinator/webhooks/webhook_config.h"

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/net/token.h"
#include "common/spec/explain.h"
#include "common/spec/yaml_document.h"

namespace podium {

extern const std::string_view kWebhooksSchemaText;  // webhooks_schema.cc.in

namespace {

using nlohmann::json;

constexpr std::size_t kShortestSecret = 16;
constexpr std::uintmax_t kLargestFile = 64 << 10;  // of a secret
constexpr Duration kLongestTimeout = std::chrono::minutes(1);

// Adds a problem for each mistake that the schema cannot express.
class Reading {
 public:
  Reading(const json& in, std::string pointer, Problems& problems)
      : in_(in), pointer_(std::move(pointer)), problems_(problems) {}

  WebhookConfig read() {
    WebhookConfig config;
    config.name = in_.at("name");
    if (const Result<Url> url = parse_url(in_.at("url").get<std::string>()))
      config.url = *url;
    else
      add("url",
          "url must name a host and may hold no password; write it like https://hooks.example.org/podium");
    config.secret = read_secret();
    config.ca = in_.value("ca", std::string());
    if (!config.ca.empty() && !std::filesystem::exists(config.ca)) add("ca", "there is no file " + config.ca);
    config.types = read_types();
    if (in_.contains("timeout")) config.timeout = read_timeout();
    config.queue = in_.value("queue", config.queue);
    return config;
  }

 private:
  void add(const char* key, std::string message) { problems_.add(pointer_ + "/" + key, std::move(message)); }

  std::string read_secret() {
    if (in_.contains("secret") == in_.contains("secret_file")) {
      problems_.add(pointer_,
                    "a webhook has either a secret or a secret_file; openssl rand -hex 32 makes one");
      return "";
    }
    if (in_.contains("secret")) return in_.at("secret");
    const std::string file = in_.at("secret_file");
    std::string secret;
    try {
      if (!holds_secret(file)) return "";
      secret = read_token(file);
    } catch (const std::exception& error) {
      add("secret_file", error.what());
      return "";
    }
    if (secret.size() < kShortestSecret)
      add("secret_file",
          file + " must hold at least 16 characters; openssl rand -hex 32 makes such a secret");
    return secret;
  }

  // A pipe or a device may have no end.
  bool holds_secret(const std::string& file) {
    namespace fs = std::filesystem;
    const bool ends = !fs::exists(file) || (fs::is_regular_file(file) && fs::file_size(file) <= kLargestFile);
    if (!ends)
      add("secret_file",
          file + " must be a regular file of 64 KiB at most; openssl rand -hex 32 makes a secret for it");
    return ends;
  }

  std::set<NoticeType> read_types() const {
    std::set<NoticeType> types;
    for (const json& name : in_.value("events", json::array()))
      types.insert(notice_type_from(name.get<std::string>()).value());
    if (types.empty()) types.insert(std::begin(kEventNotices), std::end(kEventNotices));
    return types;
  }

  Duration read_timeout() {
    const auto timeout = parse_duration(in_.at("timeout").get<std::string>());
    if (timeout && *timeout > Duration{} && *timeout <= kLongestTimeout) return *timeout;
    add("timeout", "timeout must be a duration up to " + format_duration(kLongestTimeout) + ", such as 10s");
    return {};
  }

  const json& in_;
  const std::string pointer_;
  Problems& problems_;
};

std::vector<WebhookConfig> read_all(const json& document, Problems& problems) {
  std::vector<WebhookConfig> configs;
  for (std::size_t i = 0; i < document.at("webhooks").size(); ++i) {
    const std::string pointer = "/webhooks/" + std::to_string(i);
    WebhookConfig config = Reading(document.at("webhooks")[i], pointer, problems).read();
    for (const WebhookConfig& other : configs)
      if (other.name == config.name)
        problems.add(pointer + "/name", "two webhooks are called " + config.name + "; rename one");
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace

Result<std::vector<WebhookConfig>> load_webhooks(const std::filesystem::path& file) {
  static const json schema = json::parse(kWebhooksSchemaText);
  const std::string name = file.string();
  SourceMap places;
  Problems problems(name, places);
  const std::optional<json> document = read_yaml(read_file(file), places, problems);
  if (!document) return problems.errors();
  explain_all(schema, *document, "the file", problems);
  if (!problems.empty()) return problems.errors();
  std::vector<WebhookConfig> configs = read_all(*document, problems);
  if (!problems.empty()) return problems.errors();
  return configs;
}

}  // namespace podium
