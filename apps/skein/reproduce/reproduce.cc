#include "apps/skein/reproduce/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "apps/skein/ranks.h"
#include "apps/skein/reproduce/mission_study.h"
#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/data/data_file.h"
#include "skein/data/data_source.h"
#include "skein/mission/agreement.h"
#include "skein/nn/kernels.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

std::vector<LearningStudy> wanted(const ReproduceOptions& options) {
  std::vector<LearningStudy> list;
  for (const LearningStudy& study : learning_studies()) {
    if (options.data.empty() || std::ranges::find(options.data, study.name) != options.data.end()) {
      list.push_back(study);
    }
  }
  return list;
}

// Throws InputError with every data set that is not here, before hours are spent on the others.
void require_data_of(const ReproduceOptions& options) {
  InputFaults faults;
  for (const LearningStudy& study : wanted(options)) {
    const fs::path file = scenario_directory() / "paper" / (study.name + "-published.toml");
    read_or_note(faults, [&] {
      require_data(load_scenario(file, {.settings = options.common.settings}).data.source);
      return true;
    });
  }
  faults.throw_if_any();
}

// Throws InputError with every setting that the parts choose themselves, under whose titles other runs would
// stand.
void refuse_chosen_settings(const ReproduceOptions& options) {
  const auto asked = [&](const char* part) {
    return options.parts.empty() || std::ranges::find(options.parts, part) != options.parts.end();
  };
  std::vector<std::string> chosen{"run.seed", "learning.algorithm", "learning.target_accuracy_percent"};
  if (asked("published") || asked("energy") || asked("text")) {
    chosen.insert(chosen.end(), {"learning.local_period", "learning.global_period"});
  }
  if (asked("fair")) {
    chosen.insert(chosen.end(),
                  {"learning.meta_gradient", "learning.step", "learning.meta_step", "learning.inner_step"});
  }
  InputFaults faults;
  if (options.common.seed) {
    faults.add({"", "--seed", fmt::format("{}", *options.common.seed),
                "seeds are counted from 1: --seeds N takes so many"});
  }
  for (const std::string& setting : options.common.settings) {
    const std::size_t end = setting.find('=');
    const std::string key = setting.substr(0, end);
    if (std::ranges::find(chosen, key) != chosen.end()) {
      faults.add({"--set", key, end == std::string::npos ? "" : setting.substr(end + 1),
                  "the study sets it itself; for a run of your own take `skein train`"});
    }
  }
  faults.throw_if_any();
}

// Throws InputError where processes that share the learning study would not train the same.
void refuse_other_studies(const ReproduceOptions& options) {
  if (crew().size() == 1) {
    return;
  }
  const fs::path paper = scenario_directory() / "paper";
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(paper)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::string scenarios;
  for (const fs::path& file : files) {
    scenarios += file.filename().string() + sha256_of_file(file);
  }
  std::string data;
  for (const LearningStudy& study : wanted(options)) {
    data += digest_of_data(
        load_scenario(paper / (study.name + "-published.toml"), {.settings = options.common.settings}));
  }
  refuse_differences(crew(), {{"--set", fmt::format("{}", fmt::join(options.common.settings, " "))},
                              {"scenarios", sha256(scenarios)},
                              {"data", sha256(data)},
                              {"processor", nn::kernels<float>().name}});
}

// Reports that were written.
using Reports = std::vector<fs::path>;
constexpr const char* report_file = "report.md";  // in the directory of most parts

Reports reproduce_learning(const ReproduceOptions& options) {
  using Part = std::string (*)(const LearningStudy&, const ReproduceOptions&, KeptRuns&);
  struct NamedPart {
    std::string name;
    Part part;
    std::string folder;
    std::string report = report_file;
    std::string within{};  // the part that all of it is in
  };
  const std::vector<NamedPart> parts{{"published", reproduce_published, "published"},
                                     {"energy", reproduce_energy, "published", "energy.md", "published"},
                                     {"text", reproduce_text, "text"},
                                     {"fair", reproduce_fair, "fair"}};
  refuse_chosen_settings(options);
  const fs::path out =
      options.common.out.empty() ? fs::path("runs") / "reproduce" / "learning" : fs::path(options.common.out);
  struct Piece {
    LearningStudy study;
    Part part;
    fs::path directory;
    std::string report;
  };
  std::vector<Piece> pieces;
  for (const LearningStudy& study : wanted(options)) {
    for (const NamedPart& part : parts) {
      // A part that is in another one is made where it is asked for alone.
      const auto asked = [&](const std::string& name) {
        return std::ranges::find(options.parts, name) != options.parts.end();
      };
      if (part.within.empty() ? options.parts.empty() || asked(part.name)
                              : asked(part.name) && !asked(part.within)) {
        pieces.push_back({study, part.part,
                          out / (options.quick ? "quick" : "full") / study.name / part.folder, part.report});
      }
    }
  }
  require_data_of(options);
  refuse_other_studies(options);
  const auto reproduce = [&](std::size_t i) {
    const auto& [study, part, directory, report] = pieces[i];
    KeptRuns runs(options, directory);
    std::string text = part(study, options, runs);
    write_file(directory / report, text);
    return text;
  };
  // Each process takes the next piece when it is free, and has its directory for itself.
  const auto tell = [&](std::size_t i, const std::string& text) {
    if (options.common.talks()) {
      fmt::print("{}\nWrote {} and what it is made of to {}\n\n", text, pieces[i].report,
                 pieces[i].directory.string());
    }
  };
  if (crew().size() == 1) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      tell(i, reproduce(i));
    }
  } else {
    const std::vector<std::string> texts = deal(crew(), pieces.size(), reproduce);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      tell(i, texts[i]);
    }
  }
  Reports reports;
  for (const Piece& piece : pieces) {
    reports.push_back(piece.directory / piece.report);
  }
  return reports;
}

fs::path write_offloading(const ReproduceOptions& options) {
  const fs::path directory = options.common.out.empty() ? fs::path("runs") / "reproduce" / "offloading"
                                                        : fs::path(options.common.out);
  fs::create_directories(directory);
  const std::string text = reproduce_offloading(options, directory);
  if (!crew().is_first()) {
    return directory;
  }
  write_file(directory / "report.md", text);
  if (options.common.talks()) {
    fmt::print("{}Wrote report.md, tables and pictures to {}\n", text, directory.string());
  }
  return directory;
}

// Everything in docs/results.md that commands make; tests and benchmarks there are scripts of their own.
Reports reproduce_everything(const ReproduceOptions& options) {
  const fs::path out =
      options.common.out.empty() ? fs::path("runs") / "reproduce" : fs::path(options.common.out);
  const auto in = [&](const char* part) {
    ReproduceOptions own = options;
    own.common.out = (out / part).string();
    return own;
  };
  ReproduceOptions learning = in("learning");
  if (options.quick) {  // the data set of the default mission, and the published study alone
    learning.data = {"fmnist"};
    learning.parts = {"published"};
  }
  refuse_chosen_settings(learning);
  require_data_of(learning);
  Reports reports{
      write_offloading(in("offloading")) / report_file, reproduce_planning(in("planning")) / report_file,
      reproduce_mission(in("mission")) / report_file, reproduce_commands(in("commands")) / report_file};
  const Reports more = reproduce_learning(learning);
  reports.insert(reports.end(), more.begin(), more.end());
  return reports;
}

void announce(const CommonOptions& options, const Reports& reports) {
  if (!options.json()) {
    return;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const fs::path& report : reports) {
    list.push_back({{"directory", report.parent_path().string()}, {"report", report.string()}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"reports", list}}.dump(1));
}

void add_learning(Command& command) {
  auto options = std::make_shared<ReproduceOptions>();
  Command* learning = command.add_subcommand(
      "learning", "HN-PFL against H-FL (section VI-A, appendix A): curves, energy tables, a fair study");
  std::vector<std::string> names;
  for (const LearningStudy& study : learning_studies()) {
    names.push_back(study.name);
  }
  learning->add_option("data", options->data, "mnist, fmnist, cifar10, radioml; without one, all")
      ->check(one_of(names));
  learning
      ->add_option("--part", options->parts,
                   "published, text or fair; without one, all. energy: the published runs only as far as the "
                   "energy table needs them")
      ->check(one_of({"published", "energy", "text", "fair"}));
  learning
      ->add_option("--periods", options->periods, "Of all parts but fair: 1,1 and so on; without, all seven")
      ->type_name("L,G")
      ->check(one_of({"1,1", "1,2", "1,4", "1,8", "2,1", "4,1", "8,1"}));
  learning->add_flag("--quick", options->quick, "Minutes instead of hours: fewer iterations and settings");
  learning
      ->add_option("--seeds", options->seeds,
                   "So many seeds; default 3 at periods 1,1, 5 in the fair study, 1 elsewhere")
      ->type_name("N")
      ->check(within(1, 100));
  add_common_options(*learning, options->common, "skein reproduce learning mnist --quick");
  learning->callback([options] { announce(options->common, reproduce_learning(*options)); });
}

void add_offloading(Command& command) {
  auto options = std::make_shared<ReproduceOptions>();
  Command* offloading = command.add_subcommand(
      "offloading", "The leaders' problem (section VI-B): decisions over the weight of learning, savings");
  offloading->add_flag("--quick", options->quick, "Fewer weights and networks");
  offloading->add_option("--seeds", options->seeds, "So many networks")
      ->type_name("N")
      ->check(within(1, 1000));
  add_common_options(*offloading, options->common, "skein reproduce offloading --quick");
  offloading->callback([options] { announce(options->common, {write_offloading(*options) / report_file}); });
}

void add_planning(Command& command) {
  auto options = std::make_shared<ReproduceOptions>();
  Command* planning = command.add_subcommand(
      "planning",
      "Swarm trajectories (section VI-C, appendix A): thresholds, baselines, sensitivity, drift, geometries");
  planning
      ->add_option("--part", options->parts,
                   "thresholds, sensitivity, drift, tracking or geometries; without one, all")
      ->check(one_of({"thresholds", "sensitivity", "drift", "tracking", "geometries"}));
  planning->add_flag("--quick", options->quick, "Two minutes instead of an hour: less training, fewer seeds");
  planning->add_option("--seeds", options->seeds, "So many seeds; default 5, with --quick 1")
      ->type_name("N")
      ->check(within(1, 100));
  add_common_options(*planning, options->common, "skein reproduce planning --quick");
  planning->callback([options] { announce(options->common, {reproduce_planning(*options) / report_file}); });
}

void add_mission(Command& command) {
  auto options = std::make_shared<ReproduceOptions>();
  Command* mission = command.add_subcommand(
      "mission",
      "Whole missions over several seeds: our policy, a tuned baseline, the paper's; what each lever brings; "
      "other drift and data; every planner and offloader. Of a scenario: these");
  add_scenario(*mission, options->common);
  mission
      ->add_option("--part", options->parts,
                   fmt::format("{}; without one, all", fmt::join(mission_part_names(), ", ")))
      ->check(one_of(mission_part_names()));
  mission->add_flag("--quick", options->quick,
                    "Minutes instead of hours: 4 training sequences, less training of planners");
  mission->add_option("--seeds", options->seeds, "So many seeds; default 5, with --quick 1")
      ->type_name("N")
      ->check(within(1, 100));
  add_common_options(*mission, options->common, "skein reproduce mission --part policies --seeds 3");
  mission->callback([options] { announce(options->common, {reproduce_mission(*options) / report_file}); });
}

}  // namespace

fs::path scenario_directory() {
  const auto is_it = [](const fs::path& directory) {
    return fs::exists(directory / "paper" / "published-curves.json");
  };
  if (const char* given = std::getenv("SKEIN_SCENARIOS"); given != nullptr && is_it(given)) {
    return given;
  }
  std::error_code error;
  fs::path place = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int above = 0; above < 5 && !error; ++above) {
    for (const fs::path& directory : {place / "scenarios", place / "share" / "skein" / "scenarios"}) {
      if (is_it(directory)) {
        return directory;
      }
    }
    place = place.parent_path();
  }
  throw InputError(
      InputFault{"", "SKEIN_SCENARIOS", "",
                 "the paper's scenarios are not found: set it to the directory `scenarios` of Skein"});
}

const std::vector<LearningStudy>& learning_studies() {
  static const std::vector<LearningStudy> list{
      {.name = "mnist", .title = "MNIST", .level = 65.0},
      {.name = "fmnist", .title = "Fashion-MNIST", .level = 45.0},
      {.name = "cifar10", .title = "CIFAR-10", .level = 25.0},
      {.name = "radioml", .title = "RADIOML", .level = 80.0, .plotted_start = 26.625}};
  return list;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 3);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += fmt::format("| {:>{}} ", i < rows[r].size() ? rows[r][i] : "", widths[i]);
    }
    text += "|\n";
    if (r == 0) {
      for (const std::size_t width : widths) {
        text += fmt::format("|{:->{}}:", "", width + 1);
      }
      text += "|\n";
    }
  }
  return text;
}

void add_reproduce_command(Command& program) {
  Command* command = program.add_subcommand(
      "reproduce", "Make the paper's figures and tables again, and ours; without a part, all of them");
  command->require_subcommand(0, 1);
  add_learning(*command);
  add_offloading(*command);
  add_planning(*command);
  add_mission(*command);

  auto options = std::make_shared<ReproduceOptions>();
  command->add_flag("--quick", options->quick, "Without a part: everything in minutes, in less detail");
  command->add_option("--seeds", options->seeds, "So many seeds where several are taken")
      ->type_name("N")
      ->check(within(1, 100));
  add_common_options(
      *command, options->common,
      "skein reproduce --quick\nWithout a part: all of docs/results.md that commands make. What is "
      "finished is kept:\nstop it and go on.");
  command->callback([command, options] {
    if (!command->was_given_subcommand()) {
      announce(options->common, reproduce_everything(*options));
    }
  });
}

}  // namespace skein::app
