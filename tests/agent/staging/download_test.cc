// Files over HTTP, from a real server with real faults.
#include "agent/staging/download.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "common/net/sha256.h"
#include "tests/agent/staging/file_server.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

class Downloads : public testing::Test {
 protected:
  Downloads() {
    for (int i = 0; i < 40'000; ++i) content_ += static_cast<char>(i * 7 + i / 256);
    fs::create_directories(served());
    write_file_atomic(served() / "x.bin", content_);
    sha256_ = sha256_of(content_);
    rules_.pause = {1ms, 5ms};
    rules_.idle_timeout = 10s;
  }

  fs::path served() const { return folder_.path() / "served"; }
  fs::path target() const { return folder_.path() / "target"; }

  void fetch(const std::string& url) {
    const auto room = [this](std::int64_t bytes) {
      claimed_ = std::max(claimed_, bytes);
      if (bytes > room_) throw StagingFailure(ExitCause::cannot_run, "no room");
    };
    download(url, sha256_, target(), room, rules_, progress_, stop_.get_token());
  }

  // Fails with what it says, or with "" where it succeeds.
  std::string failure(const std::string& url) {
    try {
      fetch(url);
      return "";
    } catch (const StagingFailure& failed) {
      cause_ = failed.cause();
      return failed.what();
    }
  }

  TempFolder folder_;
  std::string content_, sha256_;
  DownloadRules rules_;
  StagingProgress progress_;
  std::stop_source stop_;
  std::int64_t room_ = 1 << 30, claimed_ = 0;
  ExitCause cause_ = ExitCause::program;
};

TEST_F(Downloads, BringAFileWhole) {
  const test::FileServer server(served());
  fetch(server.url("/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_EQ(progress_.bytes, 40'000);
  EXPECT_EQ(claimed_, 40'000);
  EXPECT_EQ(fs::status(target()).permissions(), fs::perms(0444));
}

TEST_F(Downloads, GoOnAfterEachBreak) {
  const test::FileServer server(served());
  fetch(server.url("/cut/7000/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_EQ(progress_.bytes, 40'000) << "no byte comes twice";
  EXPECT_THAT(server.requests(), HasSubstr("/cut/7000/x.bin bytes=7000-\n/cut/7000/x.bin bytes=14000-\n"));
}

TEST_F(Downloads, GoOnWithWhatAnEarlierOneLeft) {
  const test::FileServer server(served());
  write_file_atomic(target(), content_.substr(0, 30'000), 0600);
  fetch(server.url("/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_EQ(progress_.bytes, 10'000);
  EXPECT_EQ(server.requests(), "/x.bin bytes=30000-\n");
}

TEST_F(Downloads, AreDoneWhereAnEarlierOneHadItAll) {
  const test::FileServer server(served());
  write_file_atomic(target(), content_, 0600);
  fetch(server.url("/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_EQ(progress_.bytes, 0);
}

TEST_F(Downloads, BeginAnewWhereWhatIsThereIsNotItsBeginning) {
  const test::FileServer server(served());
  for (const std::size_t length : {100, 40'000, 50'000}) {
    fs::remove(target());
    write_file_atomic(target(), std::string(length, 'x'), 0600);
    fetch(server.url("/x.bin"));
    EXPECT_EQ(read_file(target()), content_) << length;
  }
}

TEST_F(Downloads, TakeAllOfAServerThatKnowsNoRanges) {
  const test::FileServer server(served());
  write_file_atomic(target(), content_.substr(0, 100), 0600);
  fetch(server.url("/whole/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_EQ(progress_.bytes, 40'000);
}

TEST_F(Downloads, OfUnknownLengthAskForRoomAsTheyGrow) {
  const test::FileServer server(served());
  fetch(server.url("/chunked/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_GE(claimed_, 40'000);
}

TEST_F(Downloads, StopWhereThereIsNoRoom) {
  const test::FileServer server(served());
  room_ = 39'999;
  EXPECT_EQ(failure(server.url("/x.bin")), "no room");
  EXPECT_EQ(fs::file_size(target()), 0u) << "before a byte is written";
  EXPECT_EQ(failure(server.url("/chunked/x.bin")), "no room");
}

TEST_F(Downloads, OfAnotherHashFailAndLeaveNothingOfIt) {
  const test::FileServer server(served());
  sha256_ = std::string(64, 'a');
  EXPECT_THAT(failure(server.url("/x.bin")),
              HasSubstr("has the sha256 " + sha256_of(content_) + ", and the spec says " + sha256_));
  EXPECT_EQ(cause_, ExitCause::refused);
  EXPECT_EQ(fs::file_size(target()), 0u);
}

TEST_F(Downloads, TryAgainWhereAServerIsBusy) {
  const test::FileServer server(served());
  fetch(server.url("/once/503/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  fs::remove(target());
  fetch(server.url("/once/429/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
}

TEST_F(Downloads, GiveUpAServerThatStaysBusyOrAway) {
  const test::FileServer server(served());
  rules_.tries = 3;
  EXPECT_THAT(failure(server.url("/status/503/x.bin")), HasSubstr("the server answered 503"));
  EXPECT_EQ(cause_, ExitCause::not_started);
  EXPECT_EQ(server.requests(), "/status/503/x.bin \n/status/503/x.bin \n/status/503/x.bin \n");
  EXPECT_THAT(failure("http://127.0.0.1:1/x.bin"), HasSubstr("cannot connect"));
  EXPECT_EQ(cause_, ExitCause::not_started);
}

TEST_F(Downloads, OfWhatAServerDoesNotGiveFailAtOnce) {
  const test::FileServer server(served());
  EXPECT_THAT(failure(server.url("/none.bin")), HasSubstr("answered 404"));
  EXPECT_EQ(cause_, ExitCause::refused);
  EXPECT_EQ(server.requests(), "/none.bin \n");
}

TEST_F(Downloads, FollowRedirectsAndNotForEver) {
  const test::FileServer server(served());
  fetch(server.url("/to/~x.bin"));
  EXPECT_EQ(read_file(target()), content_);
  fs::remove(target());
  fetch(server.url("/to/" + server.url("~x.bin")));
  EXPECT_EQ(read_file(target()), content_);
  EXPECT_THAT(failure(server.url("/to/ftp:~~x")), HasSubstr("which is not HTTP"));
  rules_.redirects = 0;
  EXPECT_THAT(failure(server.url("/to/~x.bin")), HasSubstr("redirected more than 0 times"));
}

TEST(Redirects, LeadWhereRfc3986Says) {
  const std::string base = "http://a:80/b/c?q=1/2";
  EXPECT_EQ(redirected(base, "http://z/x?y=2#f"), "http://z/x?y=2");
  EXPECT_EQ(redirected(base, "//z/x"), "http://z/x");
  EXPECT_EQ(redirected(base, "/x"), "http://a:80/x");
  EXPECT_EQ(redirected(base, "x"), "http://a:80/b/x");
  EXPECT_EQ(redirected("http://a", "x"), "http://a/x");
  EXPECT_EQ(redirected("http://a?q", "x"), "http://a/x");
  EXPECT_EQ(redirected("https://a/b", "https://z/x"), "https://z/x");
  EXPECT_THROW(redirected("https://a/b", "http://a/b"), StagingFailure);
  EXPECT_THROW(redirected(base, "file:///etc/passwd"), StagingFailure);
}

TEST_F(Downloads, EndSoonWhereNobodyWantsThemAnyMore) {
  const test::FileServer server(served());
  std::jthread stopper([this] {
    while (progress_.bytes == 0) std::this_thread::sleep_for(1ms);
    stop_.request_stop();
  });
  EXPECT_THROW(fetch(server.url("/slow/1000/x.bin")), StagingStopped);
  EXPECT_LT(fs::file_size(target()), 40'000u);
}

// Debian's openssl makes the certificate, Python's ssl serves it.
TEST_F(Downloads, OverTlsNeedACertificateOfAnAuthorityThatIsKnown) {
  const std::string pem = folder_.path() / "cert.pem";
  Child openssl({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
                 "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder_.path() / "key",
                 "-out", pem},
                folder_.path() / "openssl.log");
  ASSERT_EQ(openssl.wait(), 0);
  write_file_atomic(folder_.path() / "both.pem", read_file(pem) + read_file(folder_.path() / "key"));
  const test::FileServer server(served(), folder_.path() / "both.pem");
  rules_.tries = 1;
  EXPECT_THAT(failure(server.url("/x.bin")), HasSubstr("cannot connect"));
  rules_.ca_file = pem;
  fetch(server.url("/x.bin"));
  EXPECT_EQ(read_file(target()), content_);
}

}  // namespace
}  // namespace podium
