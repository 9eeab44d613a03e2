#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "progress.h"
#include "skein/base/file.h"
#include "skein/data/class_pools.h"
#include "skein/data/data_info.h"
#include "skein/data/data_source.h"
#include "skein/data/fetch.h"
#include "skein/data/split_preview.h"
#include "skein/mission/build.h"
#include "text_table.h"
#include "world_view.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string dump(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void list_sources(const CommonOptions& options) {
  TextTable table({"<data set", "<here", "<what it is"});
  std::string places;
  for (const DataSource& source : data_sources()) {
    const bool generated = source.how_to_get.empty();
    const std::optional<fs::path> place = find_data(source.name);
    table.add({std::string(source.name),
               generated ? "made"
               : place   ? "yes"
                         : "no",
               std::string(source.description)});
    if (!generated) {
      places += place ? fmt::format("  {} is in {}\n", source.name, place->string())
                      : fmt::format("  {} is not here: {}\n", source.name, source.how_to_get);
    }
  }
  if (options.json()) {
    fmt::print("{}", data_sources_json());
  } else if (options.talks()) {
    fmt::print("{}\n{}\nFetched sets are kept in {} (set SKEIN_DATA to change it).\n", table.text(), places,
               data_directory().string());
  }
}

void fetch(const CommonOptions& options, const std::string& name) {
  const fs::path directory = [&] {
    Progress progress(options, name);
    return fetch_data(name, [&](std::string_view stage, double fraction) { progress.show(stage, fraction); });
  }();
  if (options.json()) {
    fmt::print("{}", dump({{"name", name}, {"path", directory.string()}}));
  } else if (options.talks()) {
    fmt::print("{} is in {}\n", name, directory.string());
  }
}

std::string channels_text(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) {
    text += fmt::format("{}{:g}", text.empty() ? "" : ", ", value);
  }
  return text;
}

void print_info(const DataSplit& data, const DataInfo& info) {
  const Dataset& train = data.train;
  fmt::print("{}: {} x {} x {} (height, width, channels), {} classes\n", train.name, train.shape.height,
             train.shape.width, train.shape.channels, train.num_classes());
  fmt::print("a network sees (value * {:g} - mean) / deviation, mean {}, deviation {}\n\n", train.scale,
             channels_text(train.mean), channels_text(train.deviation));
  TextTable table({"class", "<name", "train", "test"});
  for (std::size_t label = 0; label < train.num_classes(); ++label) {
    table.add({fmt::format("{}", label), train.class_names[label],
               fmt::format("{}", info.train.class_counts[label]),
               fmt::format("{}", info.test.class_counts[label])});
  }
  table.add({"", "all", fmt::format("{}", train.size()), fmt::format("{}", data.test.size())});
  fmt::print("{}\nSHA-256 of what is in memory\n  {}  train\n  {}  test\n", table.text(), info.train.sha256,
             info.test.sha256);
  if (!info.files.empty()) {
    fmt::print("SHA-256 of the files\n");
    for (const FileInfo& file : info.files) {
      fmt::print("  {}  {}\n", file.sha256, file.file.string());
    }
  }
}

void show_info(const CommonOptions& options, const std::string& name, const std::string& path) {
  const Scenario scenario = load(options);
  DataSourceOptions source = scenario.data.source;
  source.name = name;
  source.path = path;
  const DataSplit data = load_data(source, scenario.run.seed);
  const DataInfo info = data_info(data, path.empty() ? find_data(name) : std::optional<fs::path>(path));
  if (!options.out.empty()) {
    write_data_info(data, info, options.out);
  }
  if (options.json()) {
    fmt::print("{}", data_info_json(data, info));
  } else if (options.talks()) {
    print_info(data, info);
    fmt::print("{}", options.out.empty()
                         ? "\n--out DIR writes samples.svg, a sheet of samples\n"
                         : fmt::format("\nWrote samples.svg (a sheet of samples) and data.json to {}\n",
                                       options.out));
  }
}

void show_split(const CommonOptions& options) {
  const Scenario scenario = load(options);
  const SampledWorld sampled = sample(scenario, options);
  const DataSplit data = load_data(scenario.data.source, scenario.run.seed);
  const ClassPools pools(data.train);
  const SplitPreview split =
      preview(with_file_named(options, [&] { return build_partition(scenario, sampled.world, pools); }),
              pools, {.data = data.train.name});
  const fs::path directory = output_directory(options, scenario);
  write_file(directory / "split.svg", to_svg(split));
  write_file(directory / "split.json", to_json(split));
  if (options.json()) {
    fmt::print("{}", to_json(split));
  } else if (options.talks()) {
    fmt::print("{}\nWrote split.svg (the picture) and split.json to {}\n", to_text(split),
               directory.string());
  }
}

}  // namespace

void add_data_command(Command& program) {
  struct Options {
    CommonOptions common;
    std::string name;
    std::string path;
  };
  auto options = std::make_shared<Options>();
  Command* command = program.add_subcommand("data", "Data sets: what there is, and who gets which part");
  command->require_subcommand(1);

  Command* list =
      command->add_subcommand("list", "The known data sets, whether they are here, how to get them");
  add_common_options(*list, options->common, "skein data list");
  list->callback([options] { list_sources(options->common); });

  Command* fetch_command = command->add_subcommand("fetch", "Download a data set, verified by digest");
  fetch_command->add_option("NAME", options->name, "mnist or cifar10")->required();
  add_common_options(*fetch_command, options->common, "skein data fetch mnist");
  fetch_command->callback([options] { fetch(options->common, options->name); });

  Command* info =
      command->add_subcommand("info", "Shape, classes, normalisation, digests and a sheet of samples");
  info->add_option("NAME", options->name, "A data set of `skein data list`")->required();
  info->add_option("--path", options->path, "Its directory or file, if not where it is usually found");
  add_common_options(*info, options->common, "skein data info fashion-mnist --out sheet");
  info->callback([options] { show_info(options->common, options->name, options->path); });

  Command* split =
      command->add_subcommand("split", "Who gets which data in a scenario: a table and a picture");
  add_scenario(*split, options->common);
  add_common_options(*split, options->common,
                     "skein data split my.toml --set data.partition=dirichlet --out split");
  split->callback([options] { show_split(options->common); });
}

}  // namespace skein::app
