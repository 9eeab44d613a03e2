// A web server that shows missions in browsers, the running ones live. It reads, and changes nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace skein {

struct DashboardOptions {
  std::filesystem::path directory = "runs";  // where runs are, some levels deep
  std::string host = "127.0.0.1";            // any but loopback asks for a token
  int port = 8800;                           // 0: any that is free
  std::size_t most_viewers = 256;            // that may follow runs at a time
  bool token = false;                        // asked for on loopback too
};

class Dashboard {
 public:
  // Is listened to from now on. Throws InputError where that cannot be.
  explicit Dashboard(const DashboardOptions& options);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;
  Dashboard(Dashboard&&) = delete;
  Dashboard& operator=(Dashboard&&) = delete;

  // What to open, with the token if there is one.
  [[nodiscard]] const std::string& address() const { return address_; }
  // Answers until another thread says stop.
  void run();
  void stop();

 private:
  class Server;
  std::unique_ptr<Server> server_;
  std::string address_;
};

}  // namespace skein
