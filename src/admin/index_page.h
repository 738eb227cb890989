// What `GET /` says to a person who opens the admin address in a browser.
#pragma once

#include <string_view>

namespace hookonce {

std::string_view index_page();  // plain text

}  // namespace hookonce
