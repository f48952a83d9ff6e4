#include "common/net/http_client.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <set>
#include <string_view>
#include <thread>

#include "common/base/file.h"
#include "tests/common/net/server_fixture.h"

// In place of the C library's: a resolver whose name server is silent.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  if (host && std::string_view(host) == "hangs.test") std::this_thread::sleep_for(std::chrono::hours(1));
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(host, service, hints, found);
}

namespace podium {
namespace {

using boost::asio::awaitable;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr milliseconds kLong = seconds(60);

awaitable<ServerReply> echo(ServerRequest request) {
  ServerReply reply;
  reply.body = request.method + " " + request.body;
  co_return reply;
}

awaitable<ServerReply> never(ServerRequest) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, milliseconds(500));
  co_await timer.async_wait(boost::asio::use_awaitable);
  co_return ServerReply{};
}

// Runs a coroutine on an io_context of its own; what it throws comes out here.
void run(std::function<awaitable<void>(boost::asio::any_io_executor)> work) {
  boost::asio::io_context io;
  std::exception_ptr failure;
  boost::asio::co_spawn(io, work(io.get_executor()), [&](std::exception_ptr thrown) { failure = thrown; });
  io.run();
  if (failure) std::rethrow_exception(failure);
}

HttpRequest post(std::string body, bool repeatable = false) {
  return {"POST", "/", {}, std::move(body), repeatable};
}

HttpRequest get(std::string target) { return {"GET", std::move(target), {}, "", false}; }

NetFailure failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const NetError& error) {
    return error.failure();
  }
  throw std::logic_error("it did not fail");
}

TEST(HttpClient, KeepsItsConnection) {
  std::set<std::string> peers;
  TestServer server({}, [&](ServerRequest request) {
    peers.insert(request.peer);
    return echo(std::move(request));
  });
  run([&](boost::asio::any_io_executor executor) -> awaitable<void> {
    HttpClient client(executor, server.url());
    for (int i = 0; i < 3; ++i) {
      const HttpResponse response = co_await client.request(post(std::to_string(i)), kLong);
      EXPECT_EQ(response.body, "POST " + std::to_string(i));
    }
  });
  EXPECT_EQ(peers.size(), 1u);
}

TEST(HttpClient, SendsARepeatableRequestAgainWhenTheKeptConnectionDied) {
  ServerOptions options;
  options.idle_timeout = milliseconds(50);
  TestServer server(options, echo);
  run([&](boost::asio::any_io_executor executor) -> awaitable<void> {
    HttpClient client(executor, server.url());
    for (int i = 0; i < 2; ++i) {
      const HttpResponse response = co_await client.request(post("again", true), kLong);
      EXPECT_EQ(response.body, "POST again");
      boost::asio::steady_timer pause(executor, milliseconds(300));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    bool failed = false;
    try {
      co_await client.request(post("once"), kLong);
    } catch (const NetError& error) {
      failed = error.failure() == NetFailure::broken;
    }
    EXPECT_TRUE(failed);
  });
}

TEST(HttpClient, TellsUnreachableFromLate) {
  Url nobody;
  {
    TestServer server({}, echo);
    nobody = server.url();
  }
  EXPECT_EQ(failure_of([&] { fetch(nobody, {}, kLong); }), NetFailure::unreachable);
  TestServer server({}, never);
  EXPECT_EQ(failure_of([&] { fetch(server.url(), {}, milliseconds(50)); }), NetFailure::timed_out);
}

TEST(HttpClient, CancelEndsTheRequestInFlightAndOnlyThat) {
  TestServer server(
      {}, [](ServerRequest request) { return request.target == "/held" ? never(request) : echo(request); });
  run([&](boost::asio::any_io_executor executor) -> awaitable<void> {
    HttpClient client(executor, server.url());
    boost::asio::steady_timer soon(executor, milliseconds(50));
    soon.async_wait([&](auto) { client.cancel(); });
    NetFailure failure{};
    try {
      co_await client.request(get("/held"), kLong);
    } catch (const NetError& error) {
      failure = error.failure();
    }
    EXPECT_EQ(failure, NetFailure::cancelled);
    const HttpResponse response = co_await client.request(get("/"), kLong);
    EXPECT_EQ(response.status, 200);
  });
}

TEST(HttpClient, BoundsTheBodyItTakes) {
  TestServer server({}, [](ServerRequest) -> awaitable<ServerReply> {
    ServerReply reply;
    reply.body = std::string(1 << 20, 'x');
    co_return reply;
  });
  ClientOptions options;
  options.max_body = 1000;
  EXPECT_EQ(failure_of([&] { fetch(server.url(), {}, kLong, options); }), NetFailure::broken);
  EXPECT_EQ(fetch(server.url(), {}, kLong).body.size(), std::size_t{1} << 20);
}

// An agent read an answer of 131 MB.
TEST(HttpClient, TakesABodyOfItsLimitAndNotOneByteMore) {
  TestServer server({}, [](ServerRequest request) -> awaitable<ServerReply> {
    const std::size_t size = std::stoul(request.target.substr(2));
    ServerReply reply;
    if (request.target[1] == 'w') {
      reply.body = std::string(size, 'x');
    } else {
      reply.next_piece = [left = size]() mutable -> awaitable<std::optional<std::string>> {
        if (left == 0) co_return std::nullopt;
        const std::size_t piece = std::min<std::size_t>(left, 700);
        left -= piece;
        co_return std::string(piece, 'x');
      };
    }
    co_return reply;
  });
  ClientOptions options;
  options.max_body = 100'000;
  for (const std::string kind : {"/w", "/p"}) {  // whole, and in pieces of no announced length
    EXPECT_EQ(fetch(server.url(), get(kind + "100000"), kLong, options).body.size(), options.max_body)
        << kind;
    EXPECT_EQ(failure_of([&] { fetch(server.url(), get(kind + "100001"), kLong, options); }),
              NetFailure::broken)
        << kind;
  }
}

// The stand-in for getaddrinfo below does not come back for this one.
TEST(HttpClient, DoesNotWaitForAResolverThatHangs) {
  const Url nowhere{false, "hangs.test", 7070, "/"};
  EXPECT_EQ(failure_of([&] { fetch(nowhere, {}, milliseconds(100)); }), NetFailure::timed_out);
  run([&](boost::asio::any_io_executor executor) -> awaitable<void> {
    HttpClient client(executor, nowhere);
    boost::asio::steady_timer soon(executor, milliseconds(50));
    soon.async_wait([&](auto) { client.cancel(); });
    NetFailure failure{};
    try {
      co_await client.request(get("/"), kLong);
    } catch (const NetError& error) {
      failure = error.failure();
    }
    EXPECT_EQ(failure, NetFailure::cancelled);
  });
  TestServer server({}, echo);
  Url named = server.url();
  named.host = "localhost";
  EXPECT_EQ(fetch(named, post("found"), kLong).body, "POST found");
  EXPECT_EQ(failure_of([&] {
              fetch({false, "nobody.invalid", 1, "/"}, {}, kLong);
            }),
            NetFailure::unreachable);
}

TEST(HttpClient, FollowsEventsUntilToldToStop) {
  TestServer server({}, [](ServerRequest) -> awaitable<ServerReply> {
    ServerReply reply;
    reply.next_piece = [n = 0]() mutable -> awaitable<std::optional<std::string>> {
      const ServerEvent event{std::to_string(++n), "tick", "x"};
      co_return format_event(event);
    };
    co_return reply;
  });
  std::vector<std::string> ids;
  follow(server.url(), {}, kLong, [&](const ServerEvent& event) {
    ids.push_back(event.id);
    return ids.size() < 3;
  });
  EXPECT_EQ(ids, (std::vector<std::string>{"1", "2", "3"}));
}

TEST(HttpClient, FollowGivesTheProblemWhenThereIsNoStream) {
  TestServer server({}, [](ServerRequest) -> awaitable<ServerReply> {
    ServerReply reply;
    reply.status = 404;
    reply.body = "none";
    co_return reply;
  });
  const HttpResponse response = follow(server.url(), {}, kLong, [](const ServerEvent&) { return true; });
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "none");
}

// A self-signed certificate for 127.0.0.1, valid for an hour, as PEM files in a folder.
void write_certificate(const std::filesystem::path& folder) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("podium test"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(certificate.get(), names, -1);
  X509_EXTENSION_free(names);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const auto write = [&](const char* file, auto print) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_file((folder / file).c_str(), "w"),
                                                        &BIO_free);
    print(bio.get());
  };
  write("cert.pem", [&](BIO* out) { PEM_write_bio_X509(out, certificate.get()); });
  write("key.pem",
        [&](BIO* out) { PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

TEST(HttpClient, SpeaksTlsToServersItTrustsOnly) {
  const std::string folder = testing::TempDir() + "podium-tls-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  write_certificate(folder);
  ServerOptions options;
  options.tls_certificate = folder + "/cert.pem";
  options.tls_key = folder + "/key.pem";
  TestServer server(options, echo);
  ClientOptions trusting;
  trusting.ca_file = folder + "/cert.pem";
  EXPECT_EQ(fetch(server.url(), post("sealed"), kLong, trusting).body, "POST sealed");
  EXPECT_EQ(failure_of([&] { fetch(server.url(), {}, kLong); }), NetFailure::unreachable);
  Url other_name = server.url();
  other_name.host = "localhost";
  EXPECT_EQ(failure_of([&] { fetch(other_name, {}, kLong, trusting); }), NetFailure::unreachable);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace podium
