// podium-worker tokenize: lines of text to token ids.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/base/file.h"
#include "worker/commands/commands.h"
#include "worker/commands/json_lines.h"
#include "worker/commands/tokenizer_argument.h"
#include "worker/data/failure.h"
#include "worker/input/text_files.h"

namespace podium {
namespace {

constexpr char kTokenizeExamples[] = R"(
Examples:
  echo 'Hello, world!' | podium-worker tokenize --tokenizer wordpiece:vocab.txt          # [7592,1010,2088,999]
  podium-worker tokenize --tokenizer wordpiece:vocab.txt --cased corpus/*.txt > ids.jsonl
  podium-worker tokenize --tokenizer bpe:vocab.json,merges.txt --offsets text.txt
  podium-worker tokenize --tokenizer bert-base-uncased --jsonl pages.jsonl               # a Hugging Face folder

Prints a line of JSON for each line of text (blank lines of --jsonl are passed over): an array of ids, or with --offsets
  {"ids":[7592,1010],"offsets":[[0,5],[5,6]]}
whose offsets are the characters (Unicode code points) [begin, end) of the line that each token comes from. Special
tokens written out in the text, such as [MASK] and <|endoftext|>, are kept; none is added. Text is UTF-8, and a line is at
most 256 MiB. A word of byte pairs takes about 40 times its bytes of memory, which only counts where a word is huge.)";

constexpr std::size_t kWrittenTogether = std::size_t{1} << 18;  // bytes

struct TokenizeArguments {
  std::string tokenizer;
  std::vector<std::filesystem::path> files{"-"};
  bool cased = false;
  bool jsonl = false;
  bool offsets = false;
};

// Gathers the lines of output.
class TokenPrinter {
 public:
  void print(const std::vector<std::int32_t>& ids, const std::vector<CharacterRange>* offsets) {
    if (offsets) text_ += R"({"ids":)";
    print_list(ids, [&](std::int32_t id) { print_number(id); });
    if (offsets) {
      text_ += R"(,"offsets":)";
      print_list(*offsets, [&](const CharacterRange& range) {
        text_ += '[';
        print_number(range.begin);
        text_ += ',';
        print_number(range.end);
        text_ += ']';
      });
      text_ += '}';
    }
    text_ += '\n';
    if (text_.size() >= kWrittenTogether) flush();
  }
  // Lines whose writing fails are not written again.
  void flush() {
    written_.swap(text_);
    text_.clear();
    write_all(STDOUT_FILENO, written_, "standard output");
  }

 private:
  void print_list(const auto& list, const auto& print_one) {
    text_ += '[';
    for (bool first = true; const auto& element : list) {
      if (!first) text_ += ',';
      first = false;
      print_one(element);
    }
    text_ += ']';
  }
  void print_number(std::int32_t number) {
    const fmt::format_int digits(number);
    text_.append(digits.data(), digits.size());
  }

  std::string text_;
  std::string written_;
};

void tokenize(const TokenizeArguments& arguments) {
  const std::unique_ptr<const Tokenizer> tokenizer =
      load_tokenizer_argument(arguments.tokenizer, arguments.cased);
  TokenPrinter printer;
  std::vector<std::int32_t> ids;
  std::vector<CharacterRange> offsets;
  const auto encode_line = [&](std::string_view line, const LinePlace& place) {
    if (arguments.jsonl && is_blank(line)) return;
    std::string text;
    if (arguments.jsonl) line = text = JsonLine(line, place).text("text");
    ids.clear();
    offsets.clear();
    std::vector<CharacterRange>* const asked = arguments.offsets ? &offsets : nullptr;
    tokenizer->encode(line, {ids, asked});
    printer.print(ids, asked);
  };
  try {
    for (const std::filesystem::path& path : arguments.files)
      for_each_named_line(path, encode_line, [&] { printer.flush(); });
  } catch (...) {
    printer.flush();  // what was good before it
    throw;
  }
  printer.flush();
}

}  // namespace

void add_tokenize(CLI::App& app) {
  const auto arguments = std::make_shared<TokenizeArguments>();
  CLI::App* command = app.add_subcommand("tokenize", "Turn lines of text into token ids");
  command->footer(kTokenizeExamples);
  command
      ->add_option("--tokenizer", arguments->tokenizer,
                   "wordpiece:VOCAB.txt, bpe:VOCAB.json,MERGES.txt or a folder with a tokenizer")
      ->required();
  command->add_option("files", arguments->files, "Text files; none or -: standard input");
  command->add_flag("--cased", arguments->cased, "With wordpiece: keep capitals and accents");
  command->add_flag("--jsonl", arguments->jsonl, "Lines are JSON objects whose \"text\" is the text");
  command->add_flag("--offsets", arguments->offsets, "Also tell which characters each token comes from");
  command->callback([arguments] { tokenize(*arguments); });
}

}  // namespace podium
