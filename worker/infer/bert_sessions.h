// The sessions of one model, made as their shapes come up. Those used last are kept.
#pragma once

#include <memory>

#include "common/base/recently_used.h"
#include "worker/infer/bert_session.h"

namespace podium {

class BertSessions {
 public:
  // Context and weights outlive it.
  BertSessions(Context& context, BertWeights& weights) : context_(context), weights_(weights) {}

  // Stays until so many others have been asked for as are kept.
  BertSession& at(const SessionShape& shape) {
    return *sessions_.get(shape, [&] { return std::make_unique<BertSession>(context_, weights_, shape); });
  }
  std::size_t size() const { return sessions_.size(); }

  static constexpr std::size_t kMost = 16;

 private:
  Context& context_;
  BertWeights& weights_;
  RecentlyUsed<SessionShape, BertSession> sessions_{kMost};
};

}  // namespace podium
