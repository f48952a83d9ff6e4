// The sessions of one model, made as their shapes come up.
#pragma once

#include <map>
#include <memory>

#include "worker/infer/bert_session.h"

namespace podium {

class BertSessions {
 public:
  // Context and weights outlive it.
  BertSessions(Context& context, BertWeights& weights) : context_(context), weights_(weights) {}

  BertSession& at(const SessionShape& shape) {
    std::unique_ptr<BertSession>& session = sessions_[shape];
    if (!session) session = std::make_unique<BertSession>(context_, weights_, shape);
    return *session;
  }

 private:
  Context& context_;
  BertWeights& weights_;
  std::map<SessionShape, std::unique_ptr<BertSession>> sessions_;
};

}  // namespace podium
