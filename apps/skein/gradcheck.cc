#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "skein/learning/network_choice.h"
#include "skein/mission/check_gradients.h"
#include "text_table.h"

namespace skein::app {
namespace {

struct GradcheckOptions {
  CommonOptions common;
  GradientCheckOptions check;
};

void print(const Scenario& scenario, const GradcheckOptions& options,
           const std::vector<nn::CheckedRow>& rows) {
  TextTable table({"<what", "<of", "median error", "worst", "allowed", "<verdict"});
  for (const nn::CheckedRow& row : rows) {
    table.add({row.what, row.of, fmt::format("{:.1e}", row.median), fmt::format("{:.1e}", row.worst),
               row.is_information() ? "" : fmt::format("{:.0e}", row.tolerance), std::string(verdict(row))});
  }
  const nn::Architecture network = build_architecture(scenario.learning.network, scenario.data.source);
  fmt::print(
      "Network {}, {} layers, {} parameters; {} samples a batch of {}; relative errors in double precision\n"
      "over {} rounds, each with its own samples, dropout and direction\n\n{}\n{}\n",
      scenario.learning.network.preset, network.layers.size(), nn::num_parameters(network),
      options.check.batch, scenario.data.source.name, options.check.rounds, table.text(),
      all_pass(rows) ? "All derivatives agree with finite differences."
                     : "Some derivatives do not agree with finite differences.");
}

void gradcheck(const GradcheckOptions& options) {
  const Scenario scenario = load(options.common);
  ThreadPool pool(options.common.threads);
  const std::vector<nn::CheckedRow> rows =
      with_file_named(options.common, [&] { return check_gradients(scenario, options.check, pool); });
  if (options.common.json()) {
    fmt::print("{}", gradient_check_json(rows));
  } else if (options.common.talks()) {
    print(scenario, options, rows);
  }
  if (!all_pass(rows)) {
    leave_with(Exit::answer_is_no);
  }
}

}  // namespace

void add_gradcheck_command(Command& program) {
  auto options = std::make_shared<GradcheckOptions>();
  Command* command = program.add_subcommand(
      "gradcheck",
      "Hold the network's gradient, Hessian-vector product and meta-gradients against finite differences; "
      "exit code 1 if any disagrees");
  add_scenario(*command, options->common);
  command->add_option("--batch", options->check.batch, "Samples in each of the three batches")
      ->type_name("N")
      ->check(within(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--directions", options->check.rounds,
                   "Rounds, each with other samples and another direction")
      ->type_name("N")
      ->check(within(1, 10000))
      ->capture_default_str();
  add_common_options(*command, options->common, "skein gradcheck my.toml --batch 8 --directions 7");
  command->callback([options] { gradcheck(*options); });
}

}  // namespace skein::app
