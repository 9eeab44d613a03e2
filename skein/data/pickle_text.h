// The two kinds of text in which protocol 0 pickles write strings.
#pragma once

#include <string>

#include "skein/data/pickle_value.h"

namespace skein {

// The bytes that a quoted Python literal stands for: 'a\x00\n'. Undoes the escapes in place.
std::string unquote_pickle_string(std::string line, const PickleContext& context);

// The text, as UTF-8, that Latin-1 characters and \uXXXX or \UXXXXXXXX stand for.
std::string unescape_pickle_unicode(const std::string& line, const PickleContext& context);

}  // namespace skein
