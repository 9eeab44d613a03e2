#include <fmt/format.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "command.h"
#include "ranks.h"
#include "skein/base/input_fault.h"
#include "skein/learning/trainer.h"
#include "skein/mission/agreement.h"
#include "skein/version.h"
#include "tools.h"

namespace skein::app {
void add_report_command(Command& program);
void add_serve_command(Command& program);
namespace {

constexpr std::size_t most_faults_shown = 100;

bool wants_json(std::span<char* const> arguments) {
  return std::ranges::any_of(arguments,
                             [](std::string_view word) { return word == "json" || word == "--format=json"; });
}

// For people on standard error; with --format json also on standard output, for programs.
void print_faults(const InputError& error, std::span<char* const> arguments) {
  const std::vector<InputFault>& faults = error.faults();
  if (wants_json(arguments)) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const InputFault& fault : faults) {
      list.push_back(
          {{"file", fault.file}, {"key", fault.key}, {"value", fault.value}, {"message", fault.message}});
    }
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    fmt::print("{}\n",
               nlohmann::ordered_json{{"valid", false}, {"faults", list}}.dump(1, ' ', false, replace));
  }
  for (std::size_t i = 0; i < std::min(faults.size(), most_faults_shown); ++i) {
    fmt::print(stderr, "skein: {}\n", to_string(faults[i]));
  }
  if (faults.size() > most_faults_shown) {
    fmt::print(stderr, "skein: and {} more\n", faults.size() - most_faults_shown);
  }
}

// What was asked for, without what is compared elsewhere (--set) or may differ (--threads).
std::string words_of(std::span<char* const> arguments) {
  std::string words;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const std::string_view name = word.substr(0, word.find('='));
    if (name != "--set" && name != "--threads") {
      words += fmt::format("{}{}", words.empty() ? "" : " ", word);
    } else if (name == word) {
      ++i;
    }
  }
  return words;
}

// Several processes share the work of some commands; of any other, each would do all.
void refuse_to_repeat(const Command& program, std::span<char* const> arguments) {
  static constexpr std::array<std::string_view, 11> shared{"run",
                                                           "resume",
                                                           "sweep",
                                                           "plan eval",
                                                           "plan train",
                                                           "plan tables",
                                                           "reproduce",
                                                           "reproduce learning",
                                                           "reproduce offloading",
                                                           "reproduce planning",
                                                           "reproduce mission"};
  if (crew().size() == 1) {
    return;
  }
  std::string command = arguments.size() > 1 && arguments[1][0] != '-' ? arguments[1] : "";
  if ((command == "plan" || command == "reproduce") && arguments.size() > 2 && arguments[2][0] != '-') {
    command += " " + std::string(arguments[2]);
  }
  refuse_differences(crew(), {{"version", fmt::format("{} {:.9}", version, program_digest())},
                              {"command", words_of(arguments)}});
  const bool known = !command.empty() && program.has_subcommand(arguments[1]);
  if (known && std::ranges::find(shared, command) == shared.end()) {
    throw InputError(InputFault{.key = "skein " + command,
                                .message = "shares no work between processes: call it without mpirun"});
  }
}

int run(int argc, char** argv) {
  CommandLine line(
      "Skein: hierarchical nested personalised federated learning over UAV swarms.\n"
      "Plans, optimises and runs missions described by scenario files.",
      fmt::format("skein {}", version));
  Command& program = line.program();
  program.require_subcommand(1);
  program.footer(
      "Start with:\n  skein new my.toml && skein check my.toml && skein run my.toml\n"
      "Each command has its own --help. Exit codes: 0 done, 1 the answer is no, 2 wrong input, 3 training "
      "diverged.");
  add_run_command(program);
  add_resume_command(program);
  add_sweep_command(program);
  add_compare_command(program);
  add_dimension_command(program);
  add_new_command(program);
  add_check_command(program);
  add_world_command(program);
  add_data_command(program);
  add_train_command(program);
  add_gradcheck_command(program);
  add_bounds_command(program);
  add_optimize_command(program);
  add_plan_command(program);
  add_gp_command(program);
  add_reproduce_command(program);
  add_report_command(program);
  add_serve_command(program);

  refuse_to_repeat(program, {argv, static_cast<std::size_t>(argc)});
  try {
    line.parse(argc, argv);
  } catch (const Leave& leave) {
    return static_cast<int>(leave.code);
  } catch (const WrongWords& error) {
    const InputError fault(InputFault{.file = "", .key = "", .value = "", .message = error.what()});
    if (!crew().is_first()) {
      throw InputError(fault);  // for the first one to tell, which may have understood its own words
    }
    print_faults(fault, {argv, static_cast<std::size_t>(argc)});
    fmt::print(stderr, "skein: see `skein --help`\n");
    return static_cast<int>(Exit::bad_input);
  }
  return static_cast<int>(answered_no() ? Exit::answer_is_no : Exit::done);
}

// Prints what went wrong; the exit code that goes with it.
int tell(const std::exception_ptr& failure, std::span<char* const> arguments) {
  const auto refuse = [&](const InputError& error) {
    print_faults(error, arguments);
    return static_cast<int>(Exit::bad_input);
  };
  try {
    std::rethrow_exception(failure);
  } catch (const InputError& error) {
    return refuse(error);
  } catch (const Divergence& divergence) {
    if (wants_json(arguments)) {
      fmt::print("{}\n", nlohmann::ordered_json{{"diverged", divergence.what()}}.dump(1));
    }
    fmt::print(stderr, "skein: {}\n", divergence.what());
    return static_cast<int>(Exit::diverged);
  } catch (const std::bad_alloc&) {
    return refuse(InputError(
        InputFault{.file = "", .key = "", .value = "", .message = "not enough memory for this scenario"}));
  } catch (const std::filesystem::filesystem_error& error) {
    return refuse(InputError(InputFault{
        .file = error.path1().string(), .key = "", .value = "", .message = error.code().message()}));
  } catch (const std::exception& error) {
    fmt::print(stderr, "skein: a fault of Skein's own: {}\n", error.what());
    return static_cast<int>(Exit::internal_error);
  }
}

}  // namespace
}  // namespace skein::app

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // Models and data go back to the system as soon as they are freed. By itself, glibc comes to keep all that
  // is no larger than the largest that was ever freed.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  return skein::app::with_crew(
      argc, argv, [&] { return skein::app::run(argc, argv); },
      [&](const std::exception_ptr& failure) {
        return skein::app::tell(failure, {argv, static_cast<std::size_t>(argc)});
      });
}
