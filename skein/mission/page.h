// The page that shows missions (web/), as it was built into the library.
#pragma once

#include <string_view>

namespace skein {

// Empty where the page could not be built.
extern const std::string_view page_script;
extern const std::string_view page_style;

inline constexpr std::string_view page_missing =
    "the page is not built in: install npm (Debian package npm) and build Skein again; "
    "`npm ci` in web/ needs the network once";

}  // namespace skein
