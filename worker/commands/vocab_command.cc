// podium-worker vocab: learns a vocabulary from text, WordPiece for BERT or byte pairs for GPT.
#include <CLI/CLI.hpp>
#include <memory>

#include "common/base/file.h"
#include "worker/commands/commands.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/data/documents.h"
#include "worker/input/text_files.h"
#include "worker/tokenizer/bpe_builder.h"
#include "worker/tokenizer/vocabulary_builder.h"

namespace podium {
namespace {

constexpr char kVocabExamples[] = R"(
Examples:
  podium-worker vocab --size 2048 --out vocab.txt 'corpus/*.txt'
  podium-worker vocab --bpe --size 8192 --out tokenizer 'corpus/*.txt'     # tokenizer/{vocab.json,merges.txt})";

struct VocabArguments {
  std::vector<std::string> corpus;
  int size = 30522;
  bool cased = false;
  bool byte_pairs = false;
  std::filesystem::path out;
};

void build_wordpiece(const VocabArguments& arguments) {
  VocabularyBuilder builder(!arguments.cased);
  for (const auto& file : expand_globs(arguments.corpus, ""))
    for_each_line(file, [&](std::string_view line) { builder.add_text(line); });
  std::string text;
  for (const std::string& token : builder.build(arguments.size)) text += token + "\n";
  write_or_fail([&] { write_file_atomic(arguments.out, text); });
}

void build_byte_pairs(const VocabArguments& arguments) {
  BpeBuilder builder;
  Reading reading;
  for (const auto& file : expand_globs(arguments.corpus, ""))
    for_each_document(file, reading, [&](std::string_view document) { builder.add_text(document); });
  const BpeFiles files = builder.build(arguments.size);
  write_or_fail([&] {
    std::filesystem::create_directories(arguments.out);
    write_file_atomic(arguments.out / "vocab.json", files.vocab_json);
    write_file_atomic(arguments.out / "merges.txt", files.merges_txt);
  });
}

}  // namespace

void add_vocab(CLI::App& app) {
  const auto arguments = std::make_shared<VocabArguments>();
  CLI::App* command = app.add_subcommand("vocab", "Build a WordPiece or a byte-pair vocabulary from text");
  command->footer(kVocabExamples);
  command->add_option("corpus", arguments->corpus, "Text files or globs")->required();
  command->add_option("--size", arguments->size, "Tokens")->capture_default_str()->check(at_least(1));
  CLI::Option* cased = command->add_flag("--cased", arguments->cased, "WordPiece: keep capitals and accents");
  command->add_flag("--bpe", arguments->byte_pairs, "Byte pairs, as GPT reads them")->excludes(cased);
  command
      ->add_option("--out", arguments->out,
                   "Where vocab.txt goes, or the folder of vocab.json and merges.txt")
      ->required();
  command->callback([arguments] {
    if (arguments->byte_pairs) {
      build_byte_pairs(*arguments);
    } else {
      build_wordpiece(*arguments);
    }
  });
}

}  // namespace podium
