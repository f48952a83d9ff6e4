// The head of families that predict the next token: decode(Norm(x[scored])). The word embeddings
// decode where they are tied, else a weight of the head's own (FamilyNames::decoder).
#pragma once

#include "worker/nn/families/family.h"

namespace podium {

HeadPlan language_head();
// Its parameters, as Family::head_tensors tells them.
std::vector<HeadTensor> language_head_tensors(const ModelSpec& spec);

}  // namespace podium
