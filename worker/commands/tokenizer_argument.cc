#include "worker/commands/tokenizer_argument.h"

#include "worker/data/failure.h"
#include "worker/tokenizer/load_tokenizer.h"

namespace podium {

std::unique_ptr<const Tokenizer> load_tokenizer_argument(const std::string& what, bool cased) {
  if (cased && !what.starts_with(kWordPiecePrefix))
    refuse_spec("--cased is for wordpiece:vocab.txt; a folder says what its tokenizer does with capitals");
  return load_tokenizer(what, !cased);
}

}  // namespace podium
