#include "admin/openapi_parts.h"

namespace hookonce {

namespace {
constexpr std::string_view kText = R"json(
  "/":{
   "get":{
    "operationId":"showDashboard","summary":"The dashboard, for people.","security":[],
    "responses":{
     "200":{"description":"A page.","content":{"text/html":{"schema":{"type":"string"}}}},
     "421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
  "/healthz":{
   "get":{
    "operationId":"showHealth","summary":"200 while the process lives.","security":[],
    "responses":{
     "200":{
      "description":"The process lives.",
      "content":{
       "application/json":{"schema":{"type":"object","properties":{"status":{"const":"alive"}},"required":["status"]}}
      }
     },
     "421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
  "/readyz":{
   "get":{
    "operationId":"showReadiness","summary":"200 only while events can be committed.",
    "description":"Says why, and what is weaker than it could be, to callers with the token and where none is configured.",
    "security":[{},{"token":[]}],
    "responses":{
     "200":{
      "description":"Events can be committed.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{"status":{"const":"ready"},"weaknesses":{"type":"array","items":{"type":"string"}}},
         "required":["status"]
        }
       }
      }
     },
     "503":{
      "description":"They cannot; the code is draining or store_unavailable, and not_ready for strangers.",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
     },
     "421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
  "/metrics":{
   "get":{
    "operationId":"showMetrics","summary":"Counters, gauges and histograms.",
    "responses":{
     "200":{
      "description":"Prometheus text, exposition format 0.0.4.",
      "content":{"text/plain":{"schema":{"type":"string"}}}
     },
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
  "/api/v1/openapi.json":{
   "get":{
    "operationId":"showOpenApi","summary":"This document.",
    "responses":{
     "200":{"description":"OpenAPI 3.1.","content":{"application/json":{"schema":{"type":"object"}}}},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
  "/api/v1/events":{
   "get":{
    "operationId":"listEvents","summary":"Events, newest first by the order of acceptance.",
    "description":"Pages are stable under inserts.",
    "parameters":[
     {"name":"source","in":"query","description":"Events of this source.","schema":{"type":"string"}},
     {"name":"type","in":"query","description":"Events of exactly this type.","schema":{"type":"string"}},
     {
      "name":"state","in":"query","description":"Events in this state.",
      "schema":{"type":"string","enum":["pending","delivered","dead"]}
     },
     {
      "name":"key","in":"query","description":"Events with this dedup key, as shown.",
      "schema":{"type":"string"}
     },
     {
      "name":"q","in":"query",
      "description":"Events with this text in id, key, type or body; letter case of ASCII is ignored.",
      "schema":{"type":"string"}
     },
     {
      "name":"since","in":"query",
      "description":"Received at or after this moment: RFC 3339, or an age such as 1h.",
      "schema":{"type":"string"}
     },
     {
      "name":"until","in":"query",
      "description":"Received before this moment: RFC 3339, or an age such as 1h.","schema":{"type":"string"}
     },
     {
      "name":"limit","in":"query","description":"Events in one page.",
      "schema":{"type":"integer","minimum":1,"maximum":500,"default":50}
     },
     {"name":"cursor","in":"query","description":"next_cursor of the page before, with the same filters.","schema":{"type":"string"}}
    ],
    "responses":{
     "200":{
      "description":"One page.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/Event"}},
          "next_cursor":{"type":["string","null"]},
          "searched_until":{
           "type":["string","null"],"format":"date-time",
           "description":"While next_cursor is set: when the last event was received that this call looked at."
          },
          "bodies_searched":{
           "type":"boolean",
           "description":"Where q was given: whether it looked into bodies too. Redis inboxes do not."
          }
         },
         "required":["items","next_cursor","searched_until"]
        }
       }
      }
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/events/{id}":{
   "get":{
    "operationId":"getEvent","summary":"One event with its headers, body, arrivals and deliveries.",
    "parameters":[
     {
      "name":"id","in":"path","required":true,"description":"The event's id.",
      "schema":{"type":"string","format":"uuid"}
     },
     {
      "name":"reveal","in":"query","description":"Show the values of secret-bearing headers.",
      "schema":{"type":"boolean","default":false}
     }
    ],
    "responses":{
     "200":{
      "description":"The event.",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/EventDetail"}}}
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "404":{"$ref":"#/components/responses/NoSuchEvent"},"401":{"$ref":"#/components/responses/Unauthorized"},
     "421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/events/{id}/replay":{
   "post":{
    "operationId":"replayEvent","summary":"Sends one event again.",
    "description":"Puts its deliveries back to pending, due now. A pending one becomes due now; one in flight is left alone; both are listed.",
    "parameters":[
     {
      "name":"id","in":"path","required":true,"description":"The event's id.",
      "schema":{"type":"string","format":"uuid"}
     }
    ],
    "requestBody":{"required":false,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ReplayOne"}}}},
    "responses":{
     "202":{
      "description":"The deliveries.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{"deliveries":{"type":"array","items":{"$ref":"#/components/schemas/ReplayedDelivery"}}},
         "required":["deliveries"]
        }
       }
      }
     },
     "404":{"$ref":"#/components/responses/NoSuchEvent"},"400":{"$ref":"#/components/responses/Malformed"},
     "403":{"$ref":"#/components/responses/ForeignOrigin"},
     "413":{"$ref":"#/components/responses/BodyTooLarge"},
     "415":{"$ref":"#/components/responses/UnsupportedMediaType"},
     "422":{"$ref":"#/components/responses/InvalidField"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/replays":{
   "post":{
    "operationId":"replayEvents","summary":"Sends again what the filters match.",
    "description":"At least one filter, dead or a destination is needed, unless dry_run is true. With limit or cursor the call does one part, so that a caller can show how far it is, and stop.",
    "requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ReplayMany"}}}},
    "responses":{
     "202":{
      "description":"Done, or counted where dry_run is true.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "matched":{"type":"integer","description":"Deliveries that were matched."},
          "next_cursor":{
           "type":["string","null"],"description":"Of one part: where the next one begins; null behind the last."
          }
         },
         "required":["matched"]
        }
       }
      }
     },
     "400":{"$ref":"#/components/responses/Malformed"},"403":{"$ref":"#/components/responses/ForeignOrigin"},
     "413":{"$ref":"#/components/responses/BodyTooLarge"},
     "415":{"$ref":"#/components/responses/UnsupportedMediaType"},
     "422":{"$ref":"#/components/responses/InvalidField"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/deliveries":{
   "get":{
    "operationId":"listDeliveries","summary":"Deliveries, newest first by the order in which their events were accepted.",
    "description":"Pages are stable under inserts. A page may hold fewer than asked for, or none, although next_cursor is set.",
    "parameters":[
     {"name":"source","in":"query","description":"Of this source's events.","schema":{"type":"string"}},
     {
      "name":"state","in":"query","description":"Deliveries in this state.",
      "schema":{"type":"string","enum":["pending","in_flight","delivered","dead"]}
     },
     {"name":"destination","in":"query","description":"To this destination.","schema":{"type":"string"}},
     {
      "name":"limit","in":"query","description":"Deliveries in one page.",
      "schema":{"type":"integer","minimum":1,"maximum":500,"default":50}
     },
     {"name":"cursor","in":"query","description":"next_cursor of the page before, with the same filters.","schema":{"type":"string"}}
    ],
    "responses":{
     "200":{
      "description":"One page.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/ListedDelivery"}},
          "next_cursor":{"type":["string","null"]},
          "searched_until":{
           "type":["string","null"],"format":"date-time",
           "description":"While next_cursor is set: when the last event was received that this call looked at."
          }
         },
         "required":["items","next_cursor","searched_until"]
        }
       }
      }
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/sources":{
   "get":{
    "operationId":"listSources",
    "summary":"The configured sources without their secrets, and what they counted since the start.",
    "responses":{
     "200":{
      "description":"All sources by name.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/Source"}}},
         "required":["items"]
        }
       }
      }
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  },
  "/api/v1/destinations":{
   "get":{
    "operationId":"listDestinations",
    "summary":"The configured destinations without their secrets, and what waits for each.",
    "description":"A destination that is gone from the configuration is listed as orphaned while something waits for it, or it is paused.",
    "responses":{
     "200":{
      "description":"All destinations by name, then the orphaned ones.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/Destination"}}},
         "required":["items"]
        }
       }
      }
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/destinations/{name}/pause":{
   "post":{
    "operationId":"pauseDestination","summary":"Holds a destination in the whole cluster, across restarts.",
    "description":"No attempt begins once this has been answered; those in flight end normally. Events are accepted as ever, and wait.",
    "parameters":[
     {"name":"name","in":"path","required":true,"description":"The destination's name.","schema":{"type":"string"}}
    ],
    "responses":{
     "200":{
      "description":"It is paused, or was before.",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pause"}}}
     },
     "404":{"$ref":"#/components/responses/NoSuchDestination"},"400":{"$ref":"#/components/responses/Malformed"},
     "403":{"$ref":"#/components/responses/ForeignOrigin"},
     "413":{"$ref":"#/components/responses/BodyTooLarge"},
     "415":{"$ref":"#/components/responses/UnsupportedMediaType"},
     "422":{"$ref":"#/components/responses/InvalidField"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/destinations/{name}/resume":{
   "post":{
    "operationId":"resumeDestination","summary":"Frees a paused destination.",
    "description":"What waits is sent at once by this gateway, and by others within a quarter of a second.",
    "parameters":[
     {"name":"name","in":"path","required":true,"description":"The destination's name.","schema":{"type":"string"}}
    ],
    "responses":{
     "200":{
      "description":"It is not paused.",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pause"}}}
     },
     "404":{"$ref":"#/components/responses/NoSuchDestination"},"400":{"$ref":"#/components/responses/Malformed"},
     "403":{"$ref":"#/components/responses/ForeignOrigin"},
     "413":{"$ref":"#/components/responses/BodyTooLarge"},
     "415":{"$ref":"#/components/responses/UnsupportedMediaType"},
     "422":{"$ref":"#/components/responses/InvalidField"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  },
  "/api/v1/stats":{
   "get":{
    "operationId":"showStats","summary":"The inbox in numbers.",
    "responses":{
     "200":{
      "description":"As of now.",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Stats"}}}
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  })json";
}  // namespace

std::string_view openapi_paths() {
  return kText;
}

}  // namespace hookonce
