// podium-worker serve: models behind HTTP.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "common/base/logging.h"
#include "common/net/access.h"
#include "common/net/token.h"
#include "worker/commands/commands.h"
#include "worker/commands/output.h"
#include "worker/commands/serving.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kServeExamples[] = R"(
Examples:
  podium-worker serve bert=bert-base-uncased
  podium-worker serve small=model-int8 answers=checkpoints/step-00005000 --listen 127.0.0.1:8500 --threads 8
  podium-worker serve bert=models/v1 --models-root models --token-file serve.token --listen 0.0.0.0:8500

  podium-worker serve gpt=gpt2 --max-texts 16 --max-positions 512

  curl localhost:8500/v1/models/bert/fill-mask -H 'Content-Type: application/json' \
       -d '{"text": "the capital of france is [MASK]."}'
  curl localhost:8500/v1/models/cola/classify -H 'Content-Type: application/json' -d '{"text": "They drank the pub."}'

A model is a Hugging Face folder, a checkpoint, a folder of checkpoints, of which the newest is taken, or what calibrate
makes. The address is printed once the server listens, and
/readyz answers 200 once every model is warmed up. SIGTERM: no new requests, those that are here are answered, exit 0. SIGHUP:
the folders are read again, and no request fails meanwhile. docs/serving.md has the requests, limits and metrics.)";

struct ServeArguments {
  std::vector<std::string> models;
  ServingArguments serving;
  ServeSpec limits;
  std::string listen = "127.0.0.1:8500";
  fs::path token_file, models_root;
  int max_wait_ms = static_cast<int>(ServeSpec{}.max_wait.count());
  int timeout_ms = static_cast<int>(ServeSpec{}.timeout.count());
  int grace_s = 30;
};

std::vector<ModelPlace> places_of(const std::vector<std::string>& models) {
  constexpr std::string_view kInName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  std::vector<ModelPlace> places;
  std::set<std::string> names;
  for (const std::string& model : models) {
    const std::size_t equals = model.find('=');
    const std::string name = model.substr(0, equals);
    if (equals == std::string::npos || name.empty() || equals + 1 == model.size())
      refuse_spec(fmt::format("{}: write NAME=FOLDER, such as bert=bert-base-uncased", model));
    if (name.find_first_not_of(kInName) != std::string::npos)
      refuse_spec(fmt::format("{}: a name has letters, digits, dots, dashes and underscores", name));
    if (!names.insert(name).second) refuse_spec(fmt::format("{} names two models", name));
    places.push_back({name, model.substr(equals + 1)});
  }
  return places;
}

std::string token_in(const fs::path& file) {
  if (file.empty()) return "";
  std::string token = read_token(file);
  if (token.empty())
    refuse_spec(fmt::format("{} is empty; openssl rand -hex 32 makes a token", file.string()));
  return token;
}

ServerSettings settings_of(const ServeArguments& arguments) {
  ServeSpec limits = arguments.limits;
  limits.max_wait = Duration(arguments.max_wait_ms);
  limits.timeout = Duration(arguments.timeout_ms);
  ServerSettings settings = server_settings(limits);
  const Result<HostPort> listen = parse_host_port(arguments.listen);
  if (!listen) refuse_spec("--listen: " + describe(listen.errors()));
  settings.http.listen = *listen;
  settings.api.token = token_in(arguments.token_file);
  settings.api.models_root = arguments.models_root;
  settings.api.check_host = is_loopback(*listen);
  if (!arguments.models_root.empty() && !fs::is_directory(arguments.models_root))
    refuse_spec(fmt::format("--models-root {} is no folder", arguments.models_root.string()));
  if (!arguments.models_root.empty() && settings.api.token.empty())
    refuse_spec("--models-root needs --token-file: whoever may load models must be known");
  settings.models = places_of(arguments.models);
  settings.grace = std::chrono::seconds(arguments.grace_s);
  return settings;
}

void run_serve(const ServeArguments& arguments) {
  const ServerSettings settings = settings_of(arguments);
  if (!is_loopback(settings.http.listen) && settings.api.token.empty())
    spdlog::warn("anyone who reaches {} may use the models; --token-file asks for a token", arguments.listen);
  const ServerEvents events{.listening = [](const std::string& address) {
    print_output(address + "\n");
    flush_output();
  }};
  serve(
      settings, [&](const fs::path& folder) { return load_served_model(arguments.serving, folder); }, events);
}

void add_limits(CLI::App& command, ServeArguments& arguments) {
  const auto add = [&command](const char* name, auto& value, int least, int most, const char* what) {
    command.add_option(name, value, what)->check(CLI::Range(least, most))->capture_default_str();
  };
  add("--max-wait-ms", arguments.max_wait_ms, 0, 10'000,
      "How long a busy model waits for a batch to fill; an idle one starts at once");
  add("--max-batch-tokens", arguments.limits.max_batch_tokens, 1, 1 << 20, "Tokens computed together");
  add("--max-queue", arguments.limits.max_queue, 1, 1 << 20,
      "Sequences that wait for a model; a request that finds no room is answered 429");
  add("--max-texts", arguments.limits.max_texts, 1, 1 << 12, "Texts that a model generates together");
  add("--max-positions", arguments.limits.max_positions, 1, 1 << 20,
      "Tokens of prompt and text together; a model that generates keeps memory for so many of each text");
  add("--timeout-ms", arguments.timeout_ms, 1, 3'600'000,
      "How long a request may take that does not say timeout_ms");
  add("--grace", arguments.grace_s, 0, 3600, "Seconds for the requests that SIGTERM finds");
}

}  // namespace

void add_serve(CLI::App& app) {
  const auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand("serve", "Answer requests over HTTP with models");
  command->footer(kServeExamples);
  command->add_option("models", arguments->models, "NAME=FOLDER of each model")->required();
  command->add_option("--listen", arguments->listen, "Address and port; port 0: any that is free")
      ->capture_default_str();
  command->add_option("--token-file", arguments->token_file, "File of the token that clients need");
  command->add_option("--models-root", arguments->models_root,
                      "Folder from which clients may load models in place of others");
  command->add_option("--vocab", arguments->serving.beside.vocabulary,
                      "vocab.txt, for models that have none beside them");
  command->add_option("--tokenizer", arguments->serving.tokenizer,
                      "bpe:VOCAB.json,MERGES.txt or a folder, in place of those of models that generate");
  command->add_flag("--cased", arguments->serving.beside.cased, "With --vocab: keep capitals and accents");
  command
      ->add_option("--data", arguments->serving.beside.data,
                   "Folder where the paths of a checkpoint's spec begin")
      ->capture_default_str();
  add_compute_arguments(*command, arguments->serving.compute);
  add_limits(*command, *arguments);
  command->callback([arguments] { run_serve(*arguments); });
}

}  // namespace podium
