#include "admin/openapi_parts.h"

namespace hookonce {

namespace {
constexpr std::string_view kText = R"json(
  "/api/v1/stream":{
   "get":{
    "operationId":"watch","summary":"What happens, as it happens.",
    "description":"Server-sent events named accepted, duplicate, rejected, attempt, delivered and dead, each with one JSON object as its data. A caller that reads too slowly is told with an event named missed how many it did not get.",
    "parameters":[
     {"name":"source","in":"query","description":"Facts of this source.","schema":{"type":"string"}},
     {"name":"type","in":"query","description":"Facts about events of exactly this type.","schema":{"type":"string"}},
     {
      "name":"key","in":"query",
      "description":"Arrivals with this dedup key, as shown. Attempts do not know their event's key.",
      "schema":{"type":"string"}
     },
     {
      "name":"destination","in":"query","description":"Attempts at this destination, and what came of them.",
      "schema":{"type":"string"}
     }
    ],
    "responses":{
     "200":{
      "description":"The stream. It has no end of its own.",
      "content":{"text/event-stream":{"schema":{"type":"string"}}}
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{
      "description":"Too many callers watch already (overloaded).",
      "headers":{"Retry-After":{"schema":{"type":"string"}}},
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
     }
    }
   }
  })json";
}  // namespace

std::string_view openapi_live_paths() {
  return kText;
}

}  // namespace hookonce
