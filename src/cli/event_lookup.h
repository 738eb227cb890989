// One event by the id that a person has at hand: the gateway's or the provider's.
#pragma once

#include <string>
#include <variant>

#include "base/json.h"
#include "cli/admin_client.h"

namespace hookonce {

// The event as the admin API shows it under `query`, or the command's exit status where there is not exactly one. Then
// it has said why, and of several events with that id it has printed the list.
std::variant<json::object, int> look_up(const AdminOptions& admin, const std::string& id, const QueryText& query = {});

}  // namespace hookonce
