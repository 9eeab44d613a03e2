#include "report.h"

#include <fmt/format.h>

#include <cstdint>
#include <system_error>

#include "command.h"
#include "page.h"
#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/version.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

// How a content security policy names an inline script or style.
std::string policy_hash(std::string_view text) {
  const std::string hex = sha256(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return "'sha256-" + base64(bytes) + "'";
}

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> runs;
};

void report(const ReportOptions& options) {
  if (page_script.empty()) {
    throw InputError({"", "skein report", "", std::string(page_missing)});
  }
  std::vector<InputFault> faults;
  std::vector<RunFiles> runs;
  for (const std::string& text : options.runs) {
    const fs::path directory = text;
    std::error_code ignored;
    if (!fs::is_directory(directory, ignored)) {
      faults.push_back({text, "", "", "is no directory"});
      continue;
    }
    RunFiles run = read_run(directory, options.runs.size() == 1 ? "" : text);
    for (const char* needed : {"scenario.toml", "world.json", "sequences.csv"}) {
      if (!run.files.contains(needed)) {
        faults.push_back({text, needed, "",
                          "is missing: the directory is of no mission, or of one that has "
                          "not finished its first sequence"});
      }
    }
    for (const std::string& fault : run.faults) {
      faults.push_back({text, "", "", fault});
    }
    runs.push_back(std::move(run));
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
  const fs::path file = !options.common.out.empty() ? fs::path(options.common.out) / "report.html"
                        : runs.size() == 1          ? fs::path(options.runs.front()) / "report.html"
                                                    : fs::path("report.html");
  const std::string html = report_html(runs);
  write_file(file, html);
  if (options.common.json()) {
    fmt::print("{}\n",
               Json{{"report", file.string()}, {"bytes", html.size()}, {"runs", runs.size()}}.dump(1));
  } else if (options.common.talks()) {
    fmt::print("Wrote {} ({:.2f} MB): open it in a browser\n", file.string(),
               static_cast<double>(html.size()) / 1e6);
  }
}

}  // namespace

std::string report_html(const std::vector<RunFiles>& runs) {
  Json data = Json::array();
  for (const RunFiles& run : runs) {
    data.push_back(run.json());
  }
  // The report may fetch nothing and run nothing but its own script.
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
      "style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Skein</title>\n<style>{}</style>\n</head>\n<body>\n<div id=\"app\"><noscript>This page needs "
      "JavaScript.</noscript></div>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
      policy_hash(page_script), policy_hash(page_style), page_style,
      safe_text(Json{{"version", version}, {"runs", std::move(data)}}), page_script);
}

bool write_report(const fs::path& directory) {
  if (page_script.empty()) {
    return false;
  }
  write_file(directory / "report.html", report_html({read_run(directory, "")}));
  return true;
}

void add_report_command(CLI::App& program) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_subcommand(
      "report", "Write one page that shows a mission, or compares several; it opens from disk, offline");
  command->add_option("runs", options->runs, "Directories of missions")->required()->type_name("RUN");
  add_common_options(*command, options->common, "skein report runs/mission runs/other --out compared");
  command->callback([options] { report(*options); });
}

}  // namespace skein::app
