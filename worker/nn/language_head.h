// The head of families that predict the next token: decode(Norm(x[scored])). The word embeddings decode, or
// where the family has one (FamilyNames::decoder) a weight of the head's own.
#pragma once

#include "worker/nn/families/family.h"

namespace podium {

HeadPlan language_head();
// Its parameters, as Family::head_tensors tells them.
std::vector<HeadTensor> language_head_tensors(const ModelSpec& spec);

}  // namespace podium
