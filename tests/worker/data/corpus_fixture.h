// A small made-up language for tests of the data pipeline: documents of sentences over words w0 … w99.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "tests/temp_folder.h"
#include "worker/data/corpus.h"
#include "worker/tensor/random.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

inline Vocabulary made_up_vocabulary() {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (int i = 0; i < 100; ++i) tokens.push_back("w" + std::to_string(i));
  for (int i = 0; i < 20; ++i) tokens.push_back("##p" + std::to_string(i));
  return Vocabulary(std::move(tokens), "made up");
}

inline std::string made_up_text(int documents, std::uint64_t seed) {
  Random random(seed, 0);
  std::string text;
  for (int d = 0; d < documents; ++d) {
    for (std::uint32_t s = 0, sentences = 1 + random.below(12); s < sentences; ++s) {
      for (std::uint32_t w = 0, words = 1 + random.below(15); w < words; ++w) {
        text += (w ? " w" : "w") + std::to_string(random.below(100));
        if (random.below(4) == 0) text += "p" + std::to_string(random.below(20));
      }
      text += "\n";
    }
    text += "\n";
  }
  return text;
}

struct MadeUpCorpus {
  explicit MadeUpCorpus(int documents = 60)
      : tokenizer(made_up_vocabulary(), true), corpus(read(made_up_text(documents, 7))) {}

  Corpus read(const std::string& text) {
    std::ofstream(folder.path() / "text.txt") << text;
    Reading reading;
    return Corpus::read({folder.path() / "text.txt"}, tokenizer, reading);
  }

  TempFolder folder;
  WordPieceTokenizer tokenizer;
  Corpus corpus;
};

}  // namespace podium
