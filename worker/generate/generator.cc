#include "worker/generate/generator.h"

namespace podium {

GenerationTotals generate(GenerationSession& session, const BpeTokenizer& tokenizer,
                          std::span<const GenerationRequest> requests, const GenerationRule& rule,
                          const GenerationListener& listener) {
  GenerationBatch batch(session, tokenizer, listener);
  for (std::size_t waiting = 0; waiting < requests.size() || !batch.empty();) {
    while (waiting < requests.size() && batch.has_slot()) {
      batch.begin(waiting, requests[waiting], rule);
      ++waiting;
    }
    if (!batch.empty()) batch.step();
  }
  return batch.totals();
}

}  // namespace podium
