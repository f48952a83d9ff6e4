#include "worker/comm/rendezvous.h"

#include <gtest/gtest.h>

#include <future>

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

TEST(Rendezvous, TheServerLeavesWhileClientsWait) {
  auto server = std::make_unique<RendezvousServer>(kHost, 0, "secret", 8);
  RendezvousClient a = join(*server);
  auto value = std::async(std::launch::async, [&] { return a.get("never", 60s); });
  server.reset();
  EXPECT_THROW(value.get(), SocketError);
}

}  // namespace
}  // namespace podium
