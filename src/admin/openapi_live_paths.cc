#include "admin/openapi_parts.h"

namespace hookonce {

namespace {
constexpr std::string_view kText = R"json(
  "/api/v1/history":{
   "get":{
    "operationId":"history","summary":"What happened minute by minute.",
    "description":"From this process's memory, so at most since its start. The oldest minute first; the last one is the current minute.",
    "parameters":[
     {
      "name":"minutes","in":"query","description":"So many at the most.",
      "schema":{"type":"integer","minimum":1,"maximum":1440,"default":60}
     },
     {
      "name":"source","in":"query",
      "description":"Arrivals of this source. Deliveries are not counted by source: delivered, dead and delivery_ms hold null.",
      "schema":{"type":"string"}
     }
    ],
    "responses":{
     "200":{
      "description":"The points.",
      "content":{"application/json":{"schema":{
       "type":"object",
       "properties":{
        "step_seconds":{"type":"integer"},
        "points":{
         "type":"array",
         "items":{
          "type":"object",
          "properties":{
           "at":{"type":"string","format":"date-time","description":"When the minute began."},
           "accepted":{"type":"integer"},"duplicates":{"type":"integer"},
           "causes":{
            "type":"object","description":"Duplicates by cause; a cause that there was not is absent.",
            "additionalProperties":{"type":"integer"}
           },
           "rejected":{"type":"integer"},
           "delivered":{"type":["integer","null"],"description":"Attempts of this gateway that succeeded."},
           "dead":{"type":["integer","null"],"description":"Deliveries that ended as dead."},
           "answer_ms":{
            "type":"object","description":"From a request's head to its answer. Null where there was none.",
            "properties":{"p50":{"type":["number","null"]},"p99":{"type":["number","null"]}},
            "required":["p50","p99"]
           },
           "delivery_ms":{
            "type":"object","description":"From acceptance to the recorded success. Null where there was none.",
            "properties":{"p50":{"type":["number","null"]},"p99":{"type":["number","null"]}},
            "required":["p50","p99"]
           }
          },
          "required":[
           "at","accepted","duplicates","causes","rejected","delivered","dead","answer_ms","delivery_ms"
          ]
         }
        }
       },
       "required":["step_seconds","points"]
      }}}
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
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
