#include "worker/generate/generator.h"

namespace podium {

GenerationTotals generate(GenerationSession& session, const BpeTokenizer& tokenizer,
                          std::span<const GenerationRequest> requests, const GenerationRule& rule,
                          const GenerationListener& listener, std::size_t count) {
  GenerationBatch batch(session, tokenizer, listener);
  const std::size_t texts = requests.size() * count;
  for (std::size_t waiting = 0; waiting < texts || !batch.empty();) {
    while (waiting < texts && batch.has_slot()) {
      GenerationRequest next = requests[waiting / count];
      next.sample += static_cast<int>(waiting % count);
      batch.begin(waiting, next, rule);
      ++waiting;
    }
    if (!batch.empty()) batch.step();
  }
  return batch.totals();
}

}  // namespace podium
