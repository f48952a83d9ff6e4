// Clients that ask as fast as they are answered, each over one kept connection, all on one thread: they cost
// the machine little beside the server that they ask.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/net/url.h"

namespace podium {

// The whole text of a request.
std::string http_request(const std::string& method, const std::string& path, const std::string& body,
                         const std::string& token);

struct Answer {
  int status = 0;
  std::string body;
};

// `request_of(client, n)` is the client's n-th request. Throws where an answer is none of 200. Returns the
// seconds from the first request to the last answer.
double ask_all(const Url& server, int clients, int requests_each,
               const std::function<const std::string&(int client, int n)>& request_of);

// One request over a connection of its own, and its time with that of the connection left out.
struct Timed {
  Answer answer;
  double seconds = 0;
};
Timed ask(const Url& server, const std::string& request);

}  // namespace podium
