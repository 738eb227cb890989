#include "cli/event_lookup.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/commands.h"
#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

std::variant<json::object, int> look_up(const AdminOptions& admin, const std::string& id, const QueryText& query) {
  const Result<AdminClient> client = AdminClient::make(admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  const Result<json::array> found = client->find(id);
  if (!found.ok()) return failed(found.status());
  if (found->size() > 1) {
    // Which one is meant is the caller's to say, so the list is the answer and the status is 1.
    complain(
        fmt::format("{} have the id {}; name one by the gateway's id", counted(found->size(), "event"), printable(id)));
    if (admin.json) {
      say(printable_json(json::object{{"items", *found}, {"next_cursor", nullptr}}) + "\n");
    } else {
      say(events_text(*found, stdout_wants_colour()));
    }
    return kExitFailed;
  }
  const std::string gateway_id = json_string(found->front(), "id").value_or("");
  Result<json::value> event = client->get("/api/v1/events/" + percent_encode(gateway_id), query);
  if (!event.ok()) return failed(event.status());
  if (!event->is_object()) return failed(unavailable("the gateway's answer is not an event"));
  return std::move(event->get_object());
}

}  // namespace hookonce
