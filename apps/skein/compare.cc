#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "skein/base/file.h"
#include "skein/mission/comparison.h"
#include "text_table.h"
#include "tools.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_differences_shown = 30;

struct CompareOptions {
  CommonOptions common;
  std::vector<std::string> directories;
};

std::string signed_text(const HeadlineNumber& number, double difference) {
  return (difference >= 0.0 ? "+" : "") + number.text(difference);
}

std::string number_table(const Comparison& comparison) {
  const std::vector<ComparedRun>& runs = comparison.runs();
  std::vector<std::string> headers{"<", runs.front().name};
  for (std::size_t i = 1; i < runs.size(); ++i) {
    headers.push_back(runs[i].name);
    headers.emplace_back("difference");
  }
  TextTable table(headers);
  for (const HeadlineNumber& number : comparison.rows()) {
    const double first = runs.front().number(number.name);
    std::vector<std::string> row{number.column, number.text(first)};
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const double value = runs[i].number(number.name);
      row.push_back(number.text(value));
      row.push_back(signed_text(number, value - first));
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string key_table(const Comparison& comparison) {
  const auto differing = comparison.differing_keys();
  if (differing.empty()) {
    return "";
  }
  std::vector<std::string> headers{"<scenario key"};
  for (const ComparedRun& run : comparison.runs()) {
    headers.push_back(run.name);
  }
  TextTable table(headers);
  for (std::size_t i = 0; i < std::min(differing.size(), most_differences_shown); ++i) {
    std::vector<std::string> row{differing[i].first};
    row.insert(row.end(), differing[i].second.begin(), differing[i].second.end());
    table.add(std::move(row));
  }
  std::string text = table.text();
  if (differing.size() > most_differences_shown) {
    text += fmt::format("and {} more keys\n", differing.size() - most_differences_shown);
  }
  return text + "\n";
}

void compare(const CompareOptions& options) {
  const Comparison comparison(options.directories);
  const fs::path directory =
      options.common.out.empty() ? fs::path("runs") / "compare" : fs::path(options.common.out);
  const fs::path picture = directory / "compare.svg";
  const std::string json = comparison.json(picture).dump(1) + "\n";
  write_file(picture, comparison.svg());
  write_file(directory / "compare.json", json);
  if (options.common.json()) {
    fmt::print("{}", json);
  } else if (options.common.talks()) {
    fmt::print("Differences are from {}\n\n{}\n{}Wrote compare.svg and compare.json to {}\n",
               comparison.runs().front().name, number_table(comparison), key_table(comparison),
               directory.string());
  }
}

}  // namespace

void add_compare_command(Command& program) {
  auto options = std::make_shared<CompareOptions>();
  Command* command = program.add_subcommand("compare", "Set missions side by side: table and picture");
  command
      ->add_option("RUN", options->directories, "Directories of finished missions, the first to compare with")
      ->required()
      ->expected(1, 1000);
  command->add_option("--out", options->common.out, "Write results to this directory; default runs/compare")
      ->type_name("DIR");
  add_output_options(*command, options->common, "skein compare runs/mission runs/smoke");
  command->callback([options] { compare(*options); });
}

}  // namespace skein::app
