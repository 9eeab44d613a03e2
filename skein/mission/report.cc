#include "skein/mission/report.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/mission/page.h"
#include "skein/version.h"

namespace skein {
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

}  // namespace

bool has_page() { return !page_script.empty(); }

std::vector<RunFiles> read_runs(const std::vector<std::string>& directories) {
  InputFaults faults;
  std::vector<RunFiles> runs;
  for (const std::string& directory : directories) {
    std::error_code ignored;
    if (!fs::is_directory(directory, ignored)) {
      faults.add({directory, "", "", "is no directory"});
      continue;
    }
    RunFiles run = read_run(directory, directories.size() == 1 ? "" : directory);
    for (const char* needed : {mission_file::scenario, mission_file::world, mission_file::sequences}) {
      if (!run.files.contains(needed)) {
        faults.add({directory, needed, "",
                    "is missing: the directory is of no mission, or of one that has not finished its first "
                    "sequence"});
      }
    }
    for (const std::string& fault : run.faults) {
      faults.add({directory, "", "", fault});
    }
    runs.push_back(std::move(run));
  }
  faults.throw_if_any();
  return runs;
}

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
  if (!has_page()) {
    return false;
  }
  write_file(directory / mission_file::report, report_html({read_run(directory, "")}));
  return true;
}

}  // namespace skein
