// One page with its missions in it, that opens from disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run_files.h"

namespace skein::app {

// The same runs give the same bytes. The page must be built in.
std::string report_html(const std::vector<RunFiles>& runs);

// Writes report.html into a run's directory; false if the page is not built in.
bool write_report(const std::filesystem::path& directory);

}  // namespace skein::app
