#include "worker/commands/serving.h"

#include "worker/generate/end_tokens.h"

namespace podium {

std::unique_ptr<LoadedModel> load_served_model(const ServingArguments& arguments,
                                               const std::filesystem::path& folder) {
  ModelArguments wanted = arguments.beside;
  wanted.model = folder;
  SourceModel source = read_any_model(wanted);
  const auto compute = std::make_shared<Compute>(arguments.compute);
  Context& context = compute->context;
  const InferencePrecision precision = precision_of(arguments.compute, source);
  auto loaded = std::make_unique<LoadedModel>();
  loaded->origin = source.origin;
  loaded->precision = to_string(precision);
  loaded->spec = source.spec;
  loaded->context = {compute, &context};
  if (source.spec.family == ModelFamily::bert) {
    loaded->bert = {tokenizer_of(source), make_bert_weights(context, source, {.precision = precision}),
                    question_rules(source.checkpoint, source.spec.max_positions),
                    class_habits(source), source.head.labels};
  } else {
    auto tokenizer = byte_pairs_of(source, arguments.tokenizer);
    std::vector<std::int32_t> ends = end_tokens(source.folder, *tokenizer);
    loaded->language = {std::move(tokenizer), std::move(ends),
                        make_language_weights(context, std::move(source), precision)};
  }
  return loaded;
}

ServerSettings server_settings(const ServeSpec& spec) {
  ServerSettings settings;
  settings.http.max_body = std::uint64_t{1} << 20;
  settings.api.timeout = spec.timeout;
  settings.rules = {.batches = {.max_tokens = spec.max_batch_tokens,
                                .max_wait = spec.max_wait,
                                .max_waiting = static_cast<std::size_t>(spec.max_queue)},
                    .texts = spec.max_texts,
                    .positions = spec.max_positions};
  return settings;
}

}  // namespace podium
