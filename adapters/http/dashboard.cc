#include "adapters/http/dashboard.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/http/page_server.h"
#include "skein/base/input_fault.h"
#include "skein/mission/page.h"
#include "skein/mission/run_files.h"
#include "skein/mission/run_watcher.h"
#include "skein/version.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using httplib::Request;
using httplib::Response;

constexpr std::size_t spare_connections = 64;  // for requests other than following a run

// A name or number of this machine alone; 127.example.com is somebody else's.
bool is_loopback(const std::string& host) {
  in_addr number{};
  return host == "localhost" || host == "::1" || host == "[::1]" ||
         (::inet_pton(AF_INET, host.c_str(), &number) == 1 && ntohl(number.s_addr) >> 24U == 127U);
}

std::string random_token() {
  std::ifstream source("/dev/urandom", std::ios::binary);
  std::array<char, 16> bytes{};
  if (!source.read(bytes.data(), bytes.size())) {
    throw InputError({"", "", "", "this machine gives no random numbers for a token"});
  }
  std::string token;
  for (const char byte : bytes) {
    token += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return token;
}

// In a time that does not tell how much of it is right.
bool same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

std::string cookie_of(const Request& request, std::string_view name) {
  const std::string cookies = request.get_header_value("Cookie");
  const std::string key = std::string(name) + "=";
  for (std::size_t at = cookies.find(key); at != std::string::npos; at = cookies.find(key, at + 1)) {
    if (at == 0 || cookies[at - 1] == ' ' || cookies[at - 1] == ';') {
      const std::size_t begin = at + key.size();
      return cookies.substr(begin, cookies.find(';', begin) - begin);
    }
  }
  return "";
}

constexpr std::string_view page_html =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Skein</title>\n"
    "<link rel=\"stylesheet\" href=\"/page.css\">\n</head>\n<body>\n<div id=\"app\"><noscript>This page "
    "needs JavaScript.</noscript></div>\n"
    "<script src=\"/page.js\"></script>\n</body>\n</html>\n";

}  // namespace

class Dashboard::Server {
 public:
  Server(const DashboardOptions& options, std::string token)
      : root_(options.directory),
        token_(std::move(token)),
        most_viewers_(options.most_viewers),
        watcher_(root_),
        server_(options.most_viewers + spare_connections) {
    server_.set_default_headers(
        {{"Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
         {"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cache-Control", "no-store"}});
    server_.set_pre_routing_handler(
        [this](const Request& request, Response& response) { return admit(request, response); });
    server_.set_exception_handler([](const Request&, Response& response, const std::exception_ptr&) {
      refuse(response, 500, "the server has a fault of its own");
    });
    text("/", page_html, "text/html; charset=utf-8");
    text("/page.js", page_script, "text/javascript; charset=utf-8");
    text("/page.css", page_style, "text/css; charset=utf-8");
    server_.Get("/api/runs", [this](const Request&, Response& response) { list(response); });
    server_.Get("/api/run", [this](const Request& request, Response& response) {
      with_run(request, response, [&](const fs::path& directory, const std::string& name) {
        Json run = read_run_below(root_, name).json();
        run["finished"] = is_finished(directory);
        response.set_content(safe_text(run), "application/json");
      });
    });
    server_.Get("/api/follow",
                [this](const Request& request, Response& response) { follow(request, response); });
  }

  // The port that it listens on; 0 if it cannot.
  int bind(const std::string& host, int port) { return server_.bind(host, port); }
  void run() { server_.listen_after_bind(); }
  void stop() {
    watcher_.stop();
    server_.stop();
  }

 private:
  using Answer = httplib::Server::HandlerResponse;

  static void refuse(Response& response, int status, const std::string& why) {
    response.status = status;
    response.set_content(Json{{"message", why}}.dump() + "\n", "application/json");
  }

  // Only reading, only from a name of this machine (a page elsewhere could have its own name point here), and
  // only with the token where there is one.
  Answer admit(const Request& request, Response& response) const {
    if (request.method != "GET" && request.method != "HEAD") {
      refuse(response, 405, "only GET and HEAD are answered");
      return Answer::Handled;
    }
    if (token_.empty()) {
      std::string host = request.get_header_value("Host");
      const std::size_t colon = host.rfind(':');
      if (colon != std::string::npos && host.find(']', colon) == std::string::npos) {
        host.resize(colon);
      }
      if (!is_loopback(host)) {
        refuse(response, 403, "the Host header names another machine");
        return Answer::Handled;
      }
      return Answer::Unhandled;
    }
    if (same(cookie_of(request, "skein_token"), token_)) {
      return Answer::Unhandled;
    }
    if (request.path == "/" && same(request.get_param_value("token"), token_)) {
      response.set_header("Set-Cookie", "skein_token=" + token_ + "; HttpOnly; SameSite=Strict; Path=/");
      response.set_redirect("/");
      return Answer::Handled;
    }
    refuse(response, 401, "open the address with the token that `skein serve` has printed");
    return Answer::Handled;
  }

  void text(const char* path, std::string_view content, const char* type) {
    server_.Get(path, [content, type](const Request&, Response& response) {
      response.set_content(content.data(), content.size(), type);
    });
  }

  void list(Response& response) const {
    Json list = Json::array();
    for (const auto& [name, directory] : find_runs(root_)) {
      std::error_code error;
      const auto written = fs::last_write_time(directory / mission_file::sequences, error);
      const double age =
          error ? -1.0 : std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
      list.push_back({{"name", name}, {"finished", is_finished(directory)}, {"seconds_since_written", age}});
    }
    response.set_content(safe_text(Json{{"version", version}, {"runs", std::move(list)}}),
                         "application/json");
  }

  // A name is looked up among the runs that there are; no path is made of it.
  template <class Work>
  void with_run(const Request& request, Response& response, const Work& work) const {
    const std::string name = request.get_param_value("name");
    const auto runs = find_runs(root_);
    const auto found = runs.find(name);
    if (found == runs.end()) {
      refuse(response, 404, "there is no such run here");
    } else {
      work(found->second, name);
    }
  }

  void follow(const Request& request, Response& response) {
    if (num_viewers_.fetch_add(1) >= most_viewers_) {
      --num_viewers_;
      refuse(response, 503, fmt::format("{} viewers are the most that are served", most_viewers_));
      return;
    }
    const std::shared_ptr<void> seat(nullptr, [this](void*) { --num_viewers_; });
    with_run(request, response, [&](const fs::path&, const std::string& name) {
      const std::shared_ptr<RunWatcher::Run> run = watcher_.follow(name);
      response.set_chunked_content_provider(
          "text/event-stream",
          [this, run, seat, version = std::uint64_t{0}](std::size_t, httplib::DataSink& sink) mutable {
            const std::shared_ptr<const std::string> news = watcher_.next(*run, version);
            if (watcher_.stopping()) {
              return false;
            }
            // A line from time to time shows whether anybody is still there.
            return news != nullptr ? sink.write(news->data(), news->size()) : sink.write(": \n\n", 4);
          });
    });
  }

  fs::path root_;
  std::string token_;
  std::size_t most_viewers_;
  std::atomic<std::size_t> num_viewers_ = 0;
  RunWatcher watcher_;
  PageServer server_;
};

Dashboard::Dashboard(const DashboardOptions& options) {
  InputFaults faults;
  if (page_script.empty()) {
    faults.add({"", "skein serve", "", std::string(page_missing)});
  }
  std::error_code ignored;
  if (!fs::is_directory(options.directory, ignored)) {
    faults.add({options.directory.string(), "", "", "is no directory"});
  }
  faults.throw_if_any();
  const std::string token = is_loopback(options.host) && !options.token ? "" : random_token();
  server_ = std::make_unique<Server>(options, token);
  const int port = server_->bind(options.host, options.port);
  if (port == 0) {
    throw InputError({"", "--host, --port", fmt::format("{}:{}", options.host, options.port),
                      "cannot be listened on: is something else there already?"});
  }
  const bool is_version_6 = options.host.find(':') != std::string::npos;
  address_ = fmt::format("http://{}:{}/{}", is_version_6 ? "[" + options.host + "]" : options.host, port,
                         token.empty() ? "" : "?token=" + token);
}

Dashboard::~Dashboard() = default;

void Dashboard::run() { server_->run(); }

void Dashboard::stop() { server_->stop(); }

}  // namespace skein
