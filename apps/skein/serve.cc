#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "adapters/http/dashboard.h"
#include "command.h"

namespace skein::app {
namespace {

struct ServeOptions {
  CommonOptions common;
  std::string directory = "runs";
  DashboardOptions dashboard{};
};

void serve(const ServeOptions& options) {
  DashboardOptions what = options.dashboard;
  what.directory = options.directory;
  // Signals are taken by one thread alone, which then ends the server in order.
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Dashboard dashboard(what);
  if (options.common.json()) {
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"address", dashboard.address()}, {"directory", options.directory}}.dump());
  } else {
    fmt::print("Serving {} at {} until interrupted\n", options.directory, dashboard.address());
  }
  std::fflush(stdout);
  std::thread waiter([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    dashboard.stop();
  });
  dashboard.run();
  pthread_kill(waiter.native_handle(), SIGTERM);  // if it was not a signal that ended it
  waiter.join();
}

}  // namespace

void add_serve_command(Command& program) {
  auto options = std::make_shared<ServeOptions>();
  Command* command =
      program.add_subcommand("serve", "Show missions in a browser, the running ones live; reads only");
  command->add_option("DIR", options->directory, "Where runs are, some levels deep")->capture_default_str();
  command
      ->add_option("--host", options->dashboard.host,
                   "Address to listen on; any but loopback asks for a token")
      ->capture_default_str();
  command->add_option("--port", options->dashboard.port, "Port to listen on; 0: any that is free")
      ->capture_default_str()
      ->check(within(0, 65535));
  command->add_flag("--token", options->dashboard.token,
                    "Ask for a token on loopback too: this machine has other users");
  command->add_option("--viewers", options->dashboard.most_viewers, "Most that may follow runs at a time")
      ->capture_default_str()
      ->check(within(1, 4096));
  add_common_options(*command, options->common, "skein serve runs");
  command->callback([options] { serve(*options); });
}

}  // namespace skein::app
