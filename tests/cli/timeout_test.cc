// A coordinator that takes requests and does not answer.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base/file.h"
#include "tests/cli/podium_program.h"

namespace podium {
namespace {

using ::testing::HasSubstr;

// Each request had the same minute, and the error did not say so.
TEST(Timeout, AnAnswerThatDoesNotComeIsSaidWithTheLimitAndHowToRaiseIt) {
  test::PodiumProgram program;
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* at = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), at, size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ASSERT_EQ(::getsockname(listener.get(), at, &size), 0);
  program.environment["PODIUM_COORDINATOR"] = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const auto ran = program.run({"list", "--timeout", "200ms"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("gave no answer within 200ms; --timeout 1s waits longer\n"));
  program.environment["PODIUM_TIMEOUT"] = "100ms";
  EXPECT_THAT(program.run({"cancel", "1"}).err, HasSubstr("The request may be carried out all the same"));
  EXPECT_EQ(program.run({"list", "--timeout", "soon"}).status, 2);
}

}  // namespace
}  // namespace podium
