#include "admin/index_page.h"

namespace hookonce {

std::string_view index_page() {
  return R"(Hookonce: the admin API of a webhook gateway.

There is no dashboard here. On a command line:

  hookonce events              the newest events
  hookonce show ID             one event: headers, body, arrivals, deliveries, attempts
  hookonce replay ID           sends an event again

With any HTTP client (where an admin token is set: Authorization: Bearer TOKEN):

  GET  /healthz                    200 while the process lives
  GET  /readyz                     200 while events can be committed
  GET  /metrics                    Prometheus text
  GET  /api/v1/events              the newest events; ?source= &type= &state= &key= &q= &since= &until= &limit= &cursor=
  GET  /api/v1/events/{id}         one event
  POST /api/v1/events/{id}/replay  sends it again
  POST /api/v1/replays             sends many again
  GET  /api/v1/sources             what is configured, and its counts
  GET  /api/v1/destinations        likewise, with what waits for each
  GET  /api/v1/stats               the inbox in numbers
  GET  /api/v1/openapi.json        all of this as OpenAPI 3.1
)";
}

}  // namespace hookonce
