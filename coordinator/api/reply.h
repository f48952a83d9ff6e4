// Replies that every resource uses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/net/problem.h"
#include "coordinator/api/api.h"

namespace podium {

ServerReply json_reply(int status, const nlohmann::json& body);

// 400 with everything that is wrong with the query.
ServerReply bad_query(const Call& call);
ServerReply bad_request(const Call& call, const std::string& detail);
ServerReply bad_request(const Call& call, const Errors& errors);

// 404: "there is no job 12".
ServerReply no_such(const Call& call, std::string_view what, const std::string& which);

constexpr std::size_t kSmallBody = 64 * 1024;  // of an operator's request
constexpr std::size_t kLargestBody = 8 * 1024 * 1024;

// The refusal of a body that is not of `type` or is longer than `most`; nothing where it is acceptable.
// Bodies are read on the loop's thread, which long ones would delay.
std::optional<ServerReply> refuse_type(const Call& call, std::string_view type,
                                       std::size_t most = kSmallBody);

// The refusal of a body that is not empty, for operations that read none.
std::optional<ServerReply> refuse_body(const Call& call);

// Idempotency-Key, "" without.
Result<std::string> idempotency_key(const Call& call);

// A number in a path, from 1.
template <class Id>
std::optional<Id> parse_id(const std::string& text) {
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < 1) return std::nullopt;
  return Id{*value};
}

}  // namespace podium
