// `skein serve` against whoever is not a browser: malformed requests, malformed run directories, paths that
// lead out of what is served. Talks to it over plain sockets, so that anything at all can be sent.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "skein/base/random.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* secret = "the-secret-that-nobody-may-read";

// A server of a directory, until it goes out of scope.
class Server {
 public:
  Server(const fs::path& directory, const std::vector<std::string>& more) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
      std::abort();
    }
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(pipe[1], STDOUT_FILENO);
      ::close(pipe[0]);
      std::vector<std::string> words{SKEIN_PROGRAM, "serve", directory.string(), "--port", "0",
                                     "--format",    "json"};
      words.insert(words.end(), more.begin(), more.end());
      std::vector<char*> arguments;
      for (std::string& word : words) {
        arguments.push_back(word.data());
      }
      arguments.push_back(nullptr);
      ::execv(SKEIN_PROGRAM, arguments.data());
      ::_exit(127);
    }
    ::close(pipe[1]);
    std::string line;
    for (char c = 0; ::read(pipe[0], &c, 1) == 1 && c != '\n';) {
      line += c;
    }
    ::close(pipe[0]);
    if (!line.empty()) {
      address_ = json::parse(line)["address"];
      const std::size_t colon = address_.find(':', 7);
      port_ = static_cast<std::uint16_t>(std::stoi(address_.substr(colon + 1)));
    }
  }
  ~Server() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;

  [[nodiscard]] bool runs() const { return port_ != 0; }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int open() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port_);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    return socket;
  }
  // What comes back for these bytes, up to a limit: a stream of events never ends by itself.
  [[nodiscard]] std::string answer(const std::string& bytes, std::size_t most = 1 << 24U) const {
    const int socket = open();
    static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ::shutdown(socket, SHUT_WR);
    std::string text;
    std::array<char, 1 << 14> buffer{};
    for (ssize_t count = 1; count > 0 && text.size() < most;) {
      count = ::recv(socket, buffer.data(), buffer.size(), 0);
      text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    }
    ::close(socket);
    return text;
  }
  [[nodiscard]] std::string get(const std::string& target, const std::string& headers = "") const {
    return answer("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  }
  [[nodiscard]] std::string begin(const std::string& target) const {
    return answer("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 1);
  }
  [[nodiscard]] json get_json(const std::string& target) const {
    const std::string text = get(target);
    return json::parse(text.substr(text.find("\r\n\r\n") + 4));
  }

 private:
  pid_t process_ = 0;
  std::uint16_t port_ = 0;
  std::string address_;
};

// A real mission, run once for all tests.
const fs::path& mission() {
  static const TemporaryDirectory directory;
  static const fs::path path = [] {
    const fs::path run = directory.path() / "mission";
    const std::string command = "'" SKEIN_PROGRAM "' run '" SKEIN_SOURCE_DIR
                                "/scenarios/smoke.toml' --quiet --out '" +
                                run.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return run;
  }();
  return path;
}

class Serve : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(mission() / "report.html")) {
      GTEST_SKIP() << "the page is not built in";
    }
    fs::create_directories(runs() / "sweep");
    fs::copy(mission(), runs() / "sweep/a", fs::copy_options::recursive);
    write_file(outside(), secret);
  }
  [[nodiscard]] fs::path runs() const { return directory_.path() / "runs"; }
  [[nodiscard]] fs::path outside() const { return directory_.path() / "outside.txt"; }
  [[nodiscard]] std::map<std::string, std::string> everything() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(runs())) {
      if (entry.is_regular_file()) {
        all[entry.path().string()] = read_file(entry.path(), 1 << 28U);
      }
    }
    return all;
  }

  TemporaryDirectory directory_;
};

TEST_F(Serve, GivesThePageAndTheRunsAndWritesNothing) {
  const auto before = everything();
  const Server server(runs(), {});
  ASSERT_TRUE(server.runs());
  const std::string page = server.get("/");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  for (const char* header : {"Content-Security-Policy: default-src 'none'", "frame-ancestors 'none'",
                             "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"}) {
    EXPECT_THAT(page, HasSubstr(header));
  }
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(server.get("/page.js"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(server.get("/page.css"), StartsWith("HTTP/1.1 200"));
  const json list = server.get_json("/api/runs");
  ASSERT_EQ(list["runs"].size(), 1U);
  EXPECT_EQ(list["runs"][0]["name"], "sweep/a");
  EXPECT_EQ(list["runs"][0]["finished"], true);
  const json run = server.get_json("/api/run?name=sweep%2Fa");
  EXPECT_EQ(run["files"]["sequences.csv"], read_file(mission() / "sequences.csv", 1 << 20U));
  EXPECT_FALSE(run["files"].contains("checkpoint.bin"));
  EXPECT_THAT(server.begin("/api/follow?name=sweep%2Fa"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(everything(), before);
}

TEST_F(Serve, OnlyReadsAndOnlyForThisMachine) {
  const Server server(runs(), {});
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_THAT(server.answer(fmt::format("{} /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n", method)),
                StartsWith("HTTP/1.1 405"))
        << method;
  }
  for (const char* host : {"example.com", "localhost.example.com", "127.example.com:80x", ""}) {
    EXPECT_THAT(server.answer(fmt::format("GET /api/runs HTTP/1.1\r\nHost: {}\r\n\r\n", host)),
                StartsWith("HTTP/1.1 403"))
        << host;
  }
  EXPECT_THAT(server.answer("GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:8800\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(Serve, AsksForItsToken) {
  const Server server(runs(), {"--token"});
  const std::size_t at = server.address().find("?token=");
  ASSERT_NE(at, std::string::npos);
  const std::string token = server.address().substr(at + 7);
  EXPECT_EQ(token.size(), 32U);
  for (const char* target : {"/", "/page.js", "/api/runs", "/api/follow?name=sweep%2Fa", "/?token=wrong"}) {
    EXPECT_THAT(server.begin(target), StartsWith("HTTP/1.1 401")) << target;
  }
  EXPECT_THAT(server.get("/api/runs", "Cookie: skein_token=" + token.substr(1) + "\r\n"),
              StartsWith("HTTP/1.1 401"));
  const std::string entered = server.get("/?token=" + token);
  EXPECT_THAT(entered, StartsWith("HTTP/1.1 302"));
  EXPECT_THAT(entered, HasSubstr("Set-Cookie: skein_token=" + token + "; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(server.get("/api/runs", "Cookie: a=b; skein_token=" + token + "\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(Serve, LimitsRequestsAndViewers) {
  const Server server(runs(), {"--viewers", "2"});
  EXPECT_THAT(server.get("/", "X: " + std::string(40'000, 'x') + "\r\n"), Not(HasSubstr("200 OK")));
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += fmt::format("X{}: 1\r\n", i);
  }
  EXPECT_THAT(server.get("/", many), Not(HasSubstr("200 OK")));
  EXPECT_THAT(server.get("/" + std::string(20'000, 'a')), Not(HasSubstr("200 OK")));
  // Two follow and stay.
  std::vector<int> viewers;
  for (int i = 0; i < 2; ++i) {
    viewers.push_back(server.open());
    const std::string request = "GET /api/follow?name=sweep%2Fa HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ASSERT_EQ(::send(viewers.back(), request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    std::array<char, 64> first{};
    ASSERT_GT(::recv(viewers.back(), first.data(), first.size(), 0), 0);
    EXPECT_THAT(std::string(first.data()), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(server.get("/api/follow?name=sweep%2Fa"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(server.get("/api/runs"), StartsWith("HTTP/1.1 200"));
  for (const int viewer : viewers) {
    ::close(viewer);
  }
}

TEST_F(Serve, NoPathLeadsOutside) {
  fs::create_directory_symlink(mission(), runs() / "link");
  fs::copy(mission(), runs() / "trap", fs::copy_options::recursive);
  fs::remove(runs() / "trap/events.jsonl");
  fs::create_symlink(outside(), runs() / "trap/events.jsonl");
  const Server server(runs(), {});
  const std::vector<std::string> names{"..",
                                       "../outside.txt",
                                       "../runs/sweep/a",
                                       "sweep/../sweep/a",
                                       "/etc",
                                       outside().string(),
                                       "link",
                                       "sweep/a/",
                                       "./sweep/a",
                                       "sweep%2Fa%00",
                                       "..%2f..%2fetc%2fpasswd",
                                       "sweep/a/models",
                                       "%2e%2e%2foutside.txt"};
  for (const std::string& name : names) {
    for (const char* api : {"/api/run", "/api/follow"}) {
      EXPECT_THAT(server.begin(std::string(api) + "?name=" + name), StartsWith("HTTP/1.1 404")) << name;
    }
  }
  for (const char* path :
       {"/../outside.txt", "/%2e%2e/outside.txt", "/runs/sweep/a/scenario.toml", "//etc/passwd"}) {
    EXPECT_THAT(server.get(path), StartsWith("HTTP/1.1 404")) << path;
  }
  const std::string trap = server.get("/api/run?name=trap");
  EXPECT_THAT(trap, HasSubstr("events.jsonl is a link"));
  EXPECT_THAT(trap, Not(HasSubstr(secret)));
}

// Somebody who can write to the runs puts a link in place of one that is followed.
TEST_F(Serve, ARunThatBecomesALinkIsNotReadAnyMore) {
  const fs::path elsewhere = directory_.path() / "elsewhere";
  fs::copy(mission(), elsewhere, fs::copy_options::recursive);
  write_file(elsewhere / "events.jsonl", secret);
  const Server server(runs(), {});
  const int viewer = server.open();
  const std::string request = "GET /api/follow?name=sweep%2Fa HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(::send(viewer, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string seen;
  std::array<char, 1 << 16> buffer{};
  const auto read_until = [&](const char* what) {
    for (ssize_t count = 1; count > 0 && seen.find(what) == std::string::npos;) {
      count = ::recv(viewer, buffer.data(), buffer.size(), 0);
      seen.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    }
  };
  read_until("event: run");
  fs::rename(runs() / "sweep", runs() / "moved");
  fs::create_directory(runs() / "sweep");
  fs::create_directory_symlink(elsewhere, runs() / "sweep/a");
  read_until("event: change");  // its files are gone
  EXPECT_THAT(seen, HasSubstr("event: change"));
  EXPECT_THAT(seen, Not(HasSubstr(secret)));
  EXPECT_THAT(server.get("/api/run?name=sweep%2Fa"), StartsWith("HTTP/1.1 404"));
  ::close(viewer);
}

TEST_F(Serve, SurvivesAThousandMalformedRequests) {
  const Server server(runs(), {});
  const std::vector<std::string> parts{"GET",
                                       "HEAD",
                                       "POST",
                                       "/",
                                       "/api/run",
                                       "/api/runs",
                                       "/api/follow",
                                       "?name=",
                                       "sweep%2Fa",
                                       "..%2f",
                                       "../",
                                       outside().string(),
                                       " ",
                                       "\r\n",
                                       "\n",
                                       "\r",
                                       ":",
                                       "HTTP/1.1",
                                       "HTTP/9.9",
                                       "HTTP/1.0",
                                       "Host: localhost",
                                       "Content-Length: 99999999999999999999",
                                       "Content-Length: -1",
                                       "Transfer-Encoding: chunked",
                                       "ffffffffffffffff",
                                       "Range: bytes=0-18446744073709551615",
                                       "Range: bytes=-1,-1,5-2",
                                       "Expect: 100-continue",
                                       "%",
                                       "%zz",
                                       "%00",
                                       std::string(1, '\0'),
                                       std::string(3000, 'A'),
                                       "\xff\xfe",
                                       "Cookie: skein_token=",
                                       "Connection: keep-alive",
                                       "Upgrade: websocket",
                                       "Accept-Encoding: gzip, br, deflate",
                                       "Content-Type: multipart/form-data; boundary=",
                                       "&name=&name=",
                                       "=",
                                       ";",
                                       "#"};
  RandomStream random(1, "malformed requests");
  for (int i = 0; i < 1000; ++i) {
    std::string request = "GET /api/run?name=sweep%2Fa HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const std::size_t kind = random.below(3);
    if (kind == 0) {  // parts in any order
      request.clear();
      for (std::size_t k = random.below(14) + 1; k > 0; --k) {
        request += parts[random.below(parts.size())];
      }
    } else if (kind == 1) {  // a good request, damaged
      for (std::size_t k = random.below(5) + 1; k > 0; --k) {
        request.insert(random.below(request.size()), parts[random.below(parts.size())]);
        request[random.below(request.size())] = static_cast<char>(random.below(256));
      }
    } else {  // noise
      request.resize(random.below(400) + 1);
      for (char& c : request) {
        c = static_cast<char>(random.below(256));
      }
    }
    EXPECT_THAT(server.answer(request, 1), Not(HasSubstr(secret)));
    if (i % 50 == 0) {
      ASSERT_THAT(server.get("/api/runs"), StartsWith("HTTP/1.1 200")) << "after " << i;
    }
  }
  EXPECT_THAT(server.get("/api/run?name=sweep%2Fa"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Serve, SurvivesAHundredMalformedRuns) {
  const std::vector<std::string> names{"scenario.toml", "world.json", "sequences.csv", "clusters.csv",
                                       "swarms.csv",    "energy.csv", "events.jsonl",  "summary.json"};
  RandomStream random(1, "malformed runs");
  for (int i = 0; i < 100; ++i) {
    const fs::path run = runs() / fmt::format("bad-{}", i);
    fs::create_directories(run);
    for (const std::string& name : names) {
      fs::copy(mission() / name, run / name);
    }
    const fs::path file = run / names[i < 16 ? i % names.size() : random.below(names.size())];
    std::string text = read_file(file, 1 << 24U);
    switch (random.below(7)) {
      case 0:
        fs::remove(file);
        break;
      case 1:
        text.resize(random.below(text.size()));
        break;
      case 2:
        for (int k = 0; k < 20; ++k) {
          text[random.below(text.size())] = static_cast<char>(random.below(256));
        }
        break;
      case 3:
        fs::remove(file);
        fs::create_directories(file);
        break;
      case 4:
        fs::remove(file);
        ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
        break;
      case 5:
        fs::remove(file);
        fs::create_symlink(outside(), file);
        break;
      default:
        text = std::string(1 << 20U, '{');
    }
    if (fs::is_regular_file(fs::symlink_status(file))) {
      write_file(file, text);
    }
  }
  const Server server(runs(), {});
  EXPECT_GE(server.get_json("/api/runs")["runs"].size(), 50U);
  for (int i = 0; i < 100; ++i) {
    for (const char* api : {"/api/run", "/api/follow"}) {
      const std::string answer = server.begin(fmt::format("{}?name=bad-{}", api, i));
      EXPECT_THAT(answer, testing::AnyOf(StartsWith("HTTP/1.1 200"), StartsWith("HTTP/1.1 404"))) << i;
      EXPECT_THAT(answer, Not(HasSubstr(secret))) << i;
    }
  }
  EXPECT_THAT(server.get("/api/run?name=sweep%2Fa"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Serve, ReportRefusesWhatIsNoRun) {
  const std::string command = "'" SKEIN_PROGRAM "' report '" + runs().string() + "' '" + outside().string() +
                              "' > '" + (directory_.path() / "said").string() + "' 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string said = read_file(directory_.path() / "said", 1 << 20U);
  EXPECT_THAT(said, HasSubstr("world.json"));
  EXPECT_THAT(said, HasSubstr("is no directory"));
}

}  // namespace
}  // namespace skein
