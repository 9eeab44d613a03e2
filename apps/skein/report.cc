#include "skein/mission/report.h"

#include <fmt/format.h>

#include "command.h"
#include "skein/base/file.h"
#include "skein/mission/page.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> runs;
};

void report(const ReportOptions& options) {
  if (!has_page()) {
    throw InputError({"", "skein report", "", std::string(page_missing)});
  }
  const std::vector<RunFiles> runs = read_runs(options.runs);
  const fs::path directory = !options.common.out.empty() ? options.common.out
                             : runs.size() == 1          ? options.runs.front()
                                                         : "";
  const fs::path file = directory / mission_file::report;
  const std::string html = report_html(runs);
  write_file(file, html);
  if (options.common.json()) {
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"report", file.string()}, {"bytes", html.size()}, {"runs", runs.size()}}.dump(
            1));
  } else if (options.common.talks()) {
    fmt::print("Wrote {} ({:.2f} MB): open it in a browser\n", file.string(),
               static_cast<double>(html.size()) / 1e6);
  }
}

}  // namespace

void add_report_command(Command& program) {
  auto options = std::make_shared<ReportOptions>();
  Command* command = program.add_subcommand(
      "report", "Write one page that shows a mission, or compares several; it opens from disk, offline");
  command->add_option("runs", options->runs, "Directories of missions")->required()->type_name("RUN");
  add_common_options(*command, options->common, "skein report runs/mission runs/other --out compared");
  command->callback([options] { report(*options); });
}

}  // namespace skein::app
