// What BERT's heads call their parameters, for those who read them without training: dense layers, a norm,
// and the bias of the scores of words.
#pragma once

namespace podium {

inline constexpr char kBertPooler[] = "bert.pooler.dense";
inline constexpr char kBertNextSentence[] = "cls.seq_relationship";
inline constexpr char kBertTransform[] = "cls.predictions.transform.dense";
inline constexpr char kBertTransformNorm[] = "cls.predictions.transform.LayerNorm";
inline constexpr char kBertSpan[] = "qa_outputs";        // of question answering
inline constexpr char kBertClassifier[] = "classifier";  // of whole sequences
inline constexpr char kBertDecoderBias[] = "cls.predictions.bias";

}  // namespace podium
