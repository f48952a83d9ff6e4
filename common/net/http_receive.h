// A request of a connection, from its first byte to the end of its body, or what is wrong with it. Internal
// to common/net.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "common/net/http_server.h"
#include "common/net/http_session.h"
#include "common/net/transport.h"

namespace podium {

// Of ServerOptions::max_bodies or max_pieces, while its request is dealt with.
class BodyRoom {
 public:
  BodyRoom() = default;
  BodyRoom(std::uint64_t& left, std::uint64_t bytes) : left_(&left), bytes_(bytes) { left -= bytes; }
  BodyRoom(BodyRoom&& other) noexcept : left_(std::exchange(other.left_, nullptr)), bytes_(other.bytes_) {}
  BodyRoom& operator=(BodyRoom&& other) noexcept {
    std::swap(left_, other.left_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyRoom() {
    if (left_) *left_ += bytes_;
  }

 private:
  std::uint64_t* left_ = nullptr;
  std::uint64_t bytes_ = 0;
};

struct Received {
  bool closed = false;                 // nothing more to do on this connection
  std::optional<ServerReply> refusal;  // instead of an answer
  bool malformed = false;  // what follows on the connection cannot be understood, or is not wanted
  bool unread = false;     // a body that was refused is still on its way
  unsigned version = 11;
  bool keep_alive = false;
  ServerRequest request;
  std::shared_ptr<RequestSink> sink;  // that has taken the body, and answers
  std::size_t piece = 0;              // bytes of the pieces that it gets
  BodyRoom room;
};

// Who may send a request is decided before its body is read. `buffer`: what has been read of the connection
// and not dealt with.
template <class Stream>
asio::awaitable<Received> receive(Stream& stream, beast::flat_buffer& buffer, const SessionContext& context,
                                  std::string peer);

beast::tcp_stream& tcp(PlainStream& stream);
beast::tcp_stream& tcp(TlsStream& stream);

// The reply where an exception ended the answer to the request; the log has the details.
ServerReply failed(const ServerRequest& request, const std::exception& error);

}  // namespace podium
