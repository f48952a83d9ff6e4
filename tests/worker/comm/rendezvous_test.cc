#include "worker/comm/rendezvous.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <future>

#include "tests/worker/comm/processes.h"
#include "worker/comm/communicator.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr char kHost[] = "127.0.0.1";

RendezvousClient join(const RendezvousServer& server, const std::string& secret = "secret") {
  return {kHost, server.port(), secret, 10s};
}

TEST(Rendezvous, WhatOneSetsTheOtherGets) {
  RendezvousServer server(kHost, 0, "secret", 8);
  RendezvousClient a = join(server);
  RendezvousClient b = join(server);
  const std::string binary("\0\x01\xFF", 3);
  a.set("key", binary);
  EXPECT_EQ(b.get("key", 10s), binary);
  a.set("empty", "");
  EXPECT_EQ(b.get("empty", 10s), "");
}

TEST(Rendezvous, AGetWaitsForALaterSet) {
  RendezvousServer server(kHost, 0, "secret", 8);
  RendezvousClient a = join(server);
  RendezvousClient b = join(server);
  auto value = std::async(std::launch::async, [&] { return a.get("later", 30s); });
  EXPECT_EQ(value.wait_for(50ms), std::future_status::timeout);
  b.set("later", "now");
  EXPECT_EQ(value.get(), "now");
}

TEST(Rendezvous, AGetGivesUpInTime) {
  RendezvousServer server(kHost, 0, "secret", 8);
  EXPECT_THROW(join(server).get("never", 30ms), SocketError);
}

TEST(Rendezvous, AWrongSecretIsCutOff) {
  RendezvousServer server(kHost, 0, "secret", 8);
  for (const char* guess : {"", "secre", "secrets", "Secret"})
    EXPECT_THROW(join(server, guess), SocketError) << guess;
  RendezvousClient a = join(server);
  a.set("still", "here");
  EXPECT_EQ(a.get("still", 10s), "here");
}

TEST(Rendezvous, NothingWorksBeforeTheSecret) {
  RendezvousServer server(kHost, 0, "secret", 8);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  const Fd stranger = connect_before(kHost, server.port(), deadline);
  send_frame(stranger, "Gkey", deadline);
  EXPECT_THROW(receive_frame(stranger, deadline), SocketError);
}

TEST(Rendezvous, AnOversizedFrameEndsItsConnectionOnly) {
  RendezvousServer server(kHost, 0, "secret", 8);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  const Fd stranger = connect_before(kHost, server.port(), deadline);
  send_all(stranger, "\xFF\xFF\xFF\x7F", deadline);
  EXPECT_THROW(receive_frame(stranger, deadline), SocketError);
  RendezvousClient a = join(server);
  EXPECT_THROW(a.set("big", std::string(kLargestFrame + 1, 'x')), SocketError);
}

TEST(Rendezvous, AClientThatComesEarlyRetries) {
  const int port = port_of(listen_on(kHost, 0));
  auto client = std::async(std::launch::async, [&] { return RendezvousClient(kHost, port, "secret", 30s); });
  EXPECT_EQ(client.wait_for(100ms), std::future_status::timeout);
  const RendezvousServer server(kHost, port, "secret", 8);
  client.get();
}

TEST(Rendezvous, NobodyThereIsAnErrorAfterTheTimeout) {
  const int port = port_of(listen_on(kHost, 0));
  EXPECT_THROW(RendezvousClient(kHost, port, "secret", 50ms), SocketError);
}

TEST(Rendezvous, ATakenPortIsAddressInUse) {
  const RendezvousServer first(kHost, 0, "secret", 8);
  EXPECT_THROW(RendezvousServer(kHost, first.port(), "secret", 8), AddressInUse);
}

TEST(Rendezvous, TellsWhoseAnnouncedConnectionEndedFirst) {
  RendezvousServer server(kHost, 0, "secret", 8);
  RendezvousClient a = join(server);
  auto b = std::make_unique<RendezvousClient>(join(server));
  auto c = std::make_unique<RendezvousClient>(join(server));
  join(server).set("a stranger", "who never announced itself");
  b->announce("b");
  c->announce("c");
  b.reset();
  EXPECT_EQ(a.get(kGoneKey, 10s), "b");
  c.reset();
  EXPECT_EQ(a.get(kGoneKey, 10s), "b");
}

TEST(Rendezvous, OneRequestWaitsForAllRanksOrNamesTheFirstThatIsMissing) {
  RendezvousServer server(kHost, 0, "secret", 8);
  RendezvousClient a = join(server);
  RendezvousClient b = join(server);
  a.set("rank/0", "");
  a.set("rank/2", "");
  EXPECT_EQ(a.wait_for_all("rank/", 3, 30ms), 1);
  auto all = std::async(std::launch::async, [&] { return a.wait_for_all("rank/", 3, 60s); });
  EXPECT_EQ(all.wait_for(50ms), std::future_status::timeout);
  b.set("rank/1", "");
  EXPECT_EQ(all.get(), std::nullopt);
}

TEST(Rendezvous, APartOfEveryRanksValueComesInOneAnswer) {
  RendezvousServer server(kHost, 0, "secret", 8);
  RendezvousClient a = join(server);
  a.set("key/0", "abcdef");
  a.set("key/1", "ghijkl");
  EXPECT_EQ(a.parts_of_all("key/", 2, 2, 3), "cdeijk");
  EXPECT_THROW(a.parts_of_all("key/", 2, 5, 3), SocketError) << "beyond the values";
  EXPECT_THROW(join(server).parts_of_all("key/", 3, 0, 1), SocketError) << "not all are set";
}

TEST(Rendezvous, MalformedRequestsEndTheirConnectionOnly) {
  RendezvousServer server(kHost, 0, "secret", 64);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  using namespace std::string_literals;
  for (const std::string& request : {""s, "X"s, "S"s, "Skey"s, "Wkey"s, "Wkey\0a\0001"s, "Wkey\0000\0001"s,
                                     "Wkey\0-1\0001"s, "Wkey\09999999999999999999\0001"s,
                                     "Pkey\0001\0000\00099999999"s, "Pkey\0001048576\0000\0001048576"s}) {
    const Fd client = connect_before(kHost, server.port(), deadline);
    send_frame(client, "Hsecret", deadline);
    EXPECT_EQ(receive_frame(client, deadline), "K");
    send_frame(client, request, deadline);
    EXPECT_THROW(receive_frame(client, deadline), SocketError) << testing::PrintToString(request);
  }
  RendezvousClient a = join(server);
  a.set("still", "here");
  EXPECT_EQ(a.get("still", 10s), "here");
}

TEST(Rendezvous, AStrangerMayNotFillTheMemory) {
  RendezvousServer server(kHost, 0, "secret", 8);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  const Fd stranger = connect_before(kHost, server.port(), deadline);
  send_all(stranger, std::string("\x08\0\0\0", 4), deadline);  // a byte more than the secret is long
  EXPECT_THROW(receive_frame(stranger, deadline), SocketError);
}

// The queue's connection could not be accepted, and the accepting thread tried again without a pause.
TEST(Rendezvous, RanksWaitWhileThereIsNoFileLeftToAcceptThem) {
  ForkedProcesses server_process(1, [](int) {
    RendezvousServer server(kHost, 0, "secret", 64);
    RendezvousClient a = join(server);
    const int next = ::dup(0);  // the lowest number that is free
    ::close(next);
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t all = limit.rlim_cur;
    limit.rlim_cur = static_cast<rlim_t>(next) + 1;  // one more: the client's end
    ::setrlimit(RLIMIT_NOFILE, &limit);
    auto late = std::async(std::launch::async, [&] { return join(server).get("key", 30s); });
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    std::this_thread::sleep_for(2s);
    ::getrusage(RUSAGE_SELF, &after);
    a.set("key", "served");  // those who are in are served
    limit.rlim_cur = all;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (late.get() != "served") return 1;
    const auto milliseconds_of = [](const rusage& usage) {
      return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
             (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    };
    const bool spun = milliseconds_of(after) - milliseconds_of(before) > 500;  // of the processor, in 2 s
    return spun ? 2 : 7;
  });
  EXPECT_EQ(server_process.wait(0), 7);
}

TEST(Rendezvous, TheServerLeavesWhileClientsWait) {
  auto server = std::make_unique<RendezvousServer>(kHost, 0, "secret", 8);
  RendezvousClient a = join(*server);
  auto value = std::async(std::launch::async, [&] { return a.get("never", 60s); });
  server.reset();
  EXPECT_THROW(value.get(), SocketError);
}

}  // namespace
}  // namespace podium
