// An HTTP server with limits: connections, the size of a request and the time it may take. One request per
// connection. Whoever comes when all connections are in use is turned away at once.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <string>

namespace skein {

class PageServer final : public httplib::Server {
 public:
  explicit PageServer(std::size_t most_connections);
  // The port that it listens on (0: any that is free); 0 if it cannot.
  int bind(const std::string& host, int port);

 private:
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace skein
