// One page with its missions in it, that opens from disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "skein/mission/run_files.h"

namespace skein {

// Whether the page is built in: without it there are no reports. Why not, is `page_missing`.
bool has_page();

// What missions have left in these directories so far. Throws InputError with all that is missing.
std::vector<RunFiles> read_runs(const std::vector<std::string>& directories);

// The same runs give the same bytes.
std::string report_html(const std::vector<RunFiles>& runs);

// Writes report.html into a run's directory; false if the page is not built in.
bool write_report(const std::filesystem::path& directory);

}  // namespace skein
