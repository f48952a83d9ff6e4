#include "coordinator/api/texts.h"

#include "coordinator/api/resources.h"

namespace podium {
namespace {

ServerReply text_reply(std::string_view text, const char* type) {
  ServerReply reply;
  reply.headers.set("Content-Type", type);
  reply.body = text;
  return reply;
}

}  // namespace

awaitable<ServerReply> get_openapi(Api&, Call) { co_return text_reply(kOpenapiText, "application/yaml"); }

awaitable<ServerReply> get_python_helper(Api&, Call) {
  co_return text_reply(kPythonHelper, "text/x-python; charset=utf-8");
}

}  // namespace podium
