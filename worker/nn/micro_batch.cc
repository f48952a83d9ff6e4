#include "worker/nn/micro_batch.h"

namespace podium {

LossSums& LossSums::operator+=(const LossSums& other) {
  language += other.language;
  language_count += other.language_count;
  language_correct += other.language_correct;
  next_sentence += other.next_sentence;
  next_sentence_count += other.next_sentence_count;
  next_sentence_correct += other.next_sentence_correct;
  return *this;
}

}  // namespace podium
