#include "admin/openapi_parts.h"

namespace hookonce {

namespace {
constexpr std::string_view kText = R"json({
  "securitySchemes":{"token":{"type":"http","scheme":"bearer","description":"server.admin_token, where one is configured."}},
  "schemas":{
   "Error":{
    "type":"object",
    "properties":{
     "error":{
      "type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"}},
      "required":["code","message"]
     }
    },
    "required":["error"]
   },
   "Event":{
    "type":"object",
    "properties":{
     "id":{"type":"string","format":"uuid"},"source":{"type":"string"},
     "type":{"type":["string","null"],"description":"The provider's event type; null where it gives none."},
     "key":{"type":["string","null"],"description":"The dedup key; null where the event has none."},
     "received_at":{"type":"string","format":"date-time"},
     "state":{"type":"string","enum":["pending","delivered","dead"]},"duplicates":{"type":"integer"},
     "size":{"type":"integer","description":"Of the body, in bytes."}
    },
    "required":["id","source","type","key","received_at","state","duplicates","size"]
   },
   "EventDetail":{
    "type":"object",
    "properties":{
     "id":{"type":"string","format":"uuid"},"source":{"type":"string"},
     "type":{"type":["string","null"],"description":"The provider's event type; null where it gives none."},
     "key":{"type":["string","null"],"description":"The dedup key; null where the event has none."},
     "received_at":{"type":"string","format":"date-time"},
     "state":{"type":"string","enum":["pending","delivered","dead"]},"duplicates":{"type":"integer"},
     "size":{"type":"integer","description":"Of the body, in bytes."},
     "ordering_key":{"type":["string","null"]},
     "new_items":{
      "type":["array","null"],"items":{"type":"integer"},
      "description":"Of a batch: the indexes of the items that were new, from 0. Null where the event is none."
     },
     "headers":{
      "type":"array","description":"As they arrived, in order.",
      "items":{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"minItems":2,"maxItems":2}
     },
     "body":{"type":["string","null"],"description":"Where the bytes are UTF-8. Null: it is not shown."},
     "body_hidden":{"type":"string","description":"Why it is not shown."},
     "body_base64":{"type":"string","contentEncoding":"base64","description":"Where they are not."},
     "arrivals":{
      "type":"array","items":{"$ref":"#/components/schemas/Arrival"},
      "description":"The first, then at most 99 duplicates, oldest first."
     },
     "reason":{"type":"string","description":"Why it has no deliveries, where it has none."},
     "deliveries":{"type":"array","items":{"$ref":"#/components/schemas/Delivery"}}
    },
    "required":[
     "id","source","type","key","received_at","state","duplicates","size","ordering_key","new_items","headers",
     "arrivals","deliveries"
    ],
    "oneOf":[{"required":["body"]},{"required":["body_base64"]}]
   },
   "Arrival":{
    "type":"object",
    "properties":{
     "at":{"type":"string","format":"date-time"},
     "verdict":{"type":"string","enum":["accepted","duplicate","rearmed"]},
     "cause":{
      "type":"string",
      "enum":[
       "first","provider_retry","concurrent_twin","manual_resend","replayed_request","same_id_other_body","semantic_twin"
      ]
     },
     "reason":{"type":"string","description":"The evidence for the cause, and what to do about it, as a sentence."},
     "certain":{"type":"boolean","description":"False where another cause would look the same."},
     "remote":{"type":"string"},
     "retry":{
      "type":["object","null"],"description":"What the provider says about its own retrying.",
      "properties":{"number":{"type":"integer"},"reason":{"type":["string","null"]}},
      "required":["number","reason"]
     },
     "provider_time":{"type":["string","null"],"format":"date-time"},
     "secret":{"type":"integer","description":"Index of the configured secret that verified it."},
     "same_key":{"type":"boolean","description":"False: its own dedup key is another, a key of dedup_also is the same."},
     "same_body":{"type":"boolean"},
     "same_signature":{
      "type":["boolean","null"],
      "description":"Signature and time stamp are the first's; null where too little is signed to tell."
     },
     "since_first_ms":{"type":"integer"}
    },
    "required":[
     "at","verdict","cause","reason","certain","remote","retry","provider_time","secret","same_key","same_body",
     "same_signature","since_first_ms"
    ]
   },
   "Delivery":{
    "type":"object",
    "properties":{
     "destination":{"type":"string"},
     "state":{"type":"string","enum":["pending","in_flight","delivered","dead"]},
     "orphaned":{"type":"boolean","description":"The configuration does not know the destination."},
     "next_attempt_at":{"type":["string","null"],"format":"date-time","description":"Null unless pending."},
     "held":{
      "type":["string","null"],"enum":["line","paused",null],
      "description":"Why a pending one is not sent, however long it is due. line: its destination is ordered, and an older delivery of its ordering key is not done. paused: its destination is paused, in a line or not. Null where it is sent when it is due."
     },
     "behind":{
      "type":["string","null"],"format":"uuid","description":"The event at the head of its line, where it waits in one."
     },
     "delivered_at":{"type":["string","null"],"format":"date-time"},
     "replayed":{"type":"boolean","description":"A person sent it again."},
     "attempts":{"type":"array","items":{"$ref":"#/components/schemas/Attempt"}}
    },
    "required":[
     "destination","state","orphaned","next_attempt_at","held","behind","delivered_at","replayed","attempts"
    ]
   },
   "ListedDelivery":{
    "type":"object",
    "properties":{
     "event":{"type":"string","format":"uuid"},"source":{"type":"string"},"type":{"type":["string","null"]},
     "key":{"type":["string","null"]},"destination":{"type":"string"},
     "state":{"type":"string","enum":["pending","in_flight","delivered","dead"]},
     "orphaned":{"type":"boolean","description":"The configuration does not know the destination."},
     "attempts":{"type":"integer","description":"The number of the newest one; 0 before the first."},
     "last_status":{"type":["integer","null"],"description":"Of the newest attempt that has ended; null where no answer came."},
     "last_error":{"type":["string","null"]},
     "received_at":{"type":"string","format":"date-time"},
     "next_attempt_at":{"type":["string","null"],"format":"date-time"},
     "held":{
      "type":["string","null"],"enum":["line","paused",null],
      "description":"Why a pending one is not sent, however long it is due. line: its destination is ordered, and an older delivery of its ordering key is not done. paused: its destination is paused, in a line or not. Null where it is sent when it is due."
     },
     "behind":{
      "type":["string","null"],"format":"uuid","description":"The event at the head of its line, where it waits in one."
     },
     "delivered_at":{"type":["string","null"],"format":"date-time"}
    },
    "required":[
     "event","source","type","key","destination","state","orphaned","attempts","last_status","last_error",
     "received_at","next_attempt_at","held","behind","delivered_at"
    ]
   },
   "Attempt":{
    "type":"object",
    "properties":{
     "number":{"type":"integer"},"started_at":{"type":"string","format":"date-time"},
     "duration_ms":{"type":["integer","null"]},
     "outcome":{
      "type":["string","null"],"enum":["success","failed","unknown","released",null],
      "description":"Null while in flight."
     },
     "status":{"type":["integer","null"],"description":"Null where no answer came."},
     "error":{"type":["string","null"]},
     "response":{"type":["string","null"],"description":"The beginning of the answer's body."}
    },
    "required":["number","started_at","duration_ms","outcome","status","error","response"]
   },
   "ReplayOne":{
    "type":"object",
    "properties":{
     "destination":{
      "type":["string","null"],
      "description":"One of the source's destinations; all of the event's deliveries where left out."
     },
     "new_key":{
      "type":"boolean","default":false,
      "description":"Send under a new Idempotency-Key, so that a backend that dedups takes it as new."
     }
    },
    "additionalProperties":false
   },
   "ReplayMany":{
    "type":"object",
    "properties":{
     "source":{"type":["string","null"]},"type":{"type":["string","null"]},
     "state":{"type":["string","null"],"enum":["pending","delivered","dead",null]},
     "key":{"type":["string","null"]},"q":{"type":["string","null"]},
     "since":{"type":["string","null"],"description":"RFC 3339, or an age such as 1h."},
     "until":{"type":["string","null"],"description":"RFC 3339, or an age such as 1h."},
     "dead":{"type":"boolean","default":false,"description":"Dead deliveries only."},
     "destination":{"type":["string","null"]},"new_key":{"type":"boolean","default":false},
     "dry_run":{"type":"boolean","default":false,"description":"Count, change nothing."},
     "limit":{
      "type":["integer","null"],"minimum":1,"maximum":500,"description":"Do one part of at most so many events."
     },
     "cursor":{"type":["string","null"],"description":"next_cursor of the part before."}
    },
    "additionalProperties":false
   },
   "ReplayedDelivery":{
    "type":"object",
    "properties":{
     "event":{"type":"string","format":"uuid"},"destination":{"type":"string"},
     "state":{"type":"string","enum":["pending","in_flight"],"description":"As it is now."},
     "replayed":{"type":"boolean","description":"False where it was in flight and was left alone."}
    },
    "required":["event","destination","state","replayed"]
   },
   "Counts":{
    "type":"object",
    "properties":{
     "accepted":{"type":"integer"},"duplicates":{"type":"integer"},
     "causes":{
      "type":"object","description":"The duplicates by what caused them.",
      "properties":{
       "provider_retry":{"type":"integer"},"concurrent_twin":{"type":"integer"},"manual_resend":{"type":"integer"},
       "replayed_request":{"type":"integer"},"same_id_other_body":{"type":"integer"},"semantic_twin":{"type":"integer"}
      },
      "required":[
       "provider_retry","concurrent_twin","manual_resend","replayed_request","same_id_other_body","semantic_twin"
      ]
     },
     "rearmed":{"type":"integer"},
     "rejected":{"type":"integer"},"unavailable":{"type":"integer"},"handshakes":{"type":"integer"},
     "unwanted":{"type":"integer","description":"Accepted, and no destination of the source wants it."},
     "replied":{"type":"integer","description":"Senders of a synchronous source that got the destination's answer."},
     "acknowledged":{"type":"integer","description":"Those that got the late answer instead."},
     "accepted_last_minute":{"type":"integer"},"duplicates_last_minute":{"type":"integer"}
    },
    "required":[
     "accepted","duplicates","causes","rearmed","rejected","unavailable","handshakes","unwanted",
     "replied","acknowledged","accepted_last_minute","duplicates_last_minute"
    ]
   },
   "Source":{
    "type":"object",
    "properties":{
     "name":{"type":"string"},"provider":{"type":"string"},"path":{"type":"string"},
     "url":{"type":["string","null"],"description":"What to paste at the provider: under server.public_url, else where the gateway listens."},
     "secrets":{"type":"integer","description":"How many."},
     "destinations":{
      "type":"array",
      "items":{
       "type":"object",
       "properties":{
        "name":{"type":"string"},"types":{"type":"array","items":{"type":"string"}},
        "when":{"type":"array","items":{"type":"string"},"description":"Conditions, each as in the configuration."}
       },
       "required":["name","types","when"]
      }
     },
     "tolerance":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
     "dedup_key":{"type":"array","items":{"type":"string"},"description":"Empty: the provider's own."},
     "dedup_also":{"type":"array","items":{"type":"string"}},
     "items":{"type":["string","null"],"description":"Where the items of a batch lie."},
     "dedup_window":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
     "missing_key":{"type":"string","enum":["accept","hash","reject"]},"rearm":{"type":"boolean"},
     "mode":{"type":"string","enum":["async","sync"]},
     "late_answer":{
      "type":["object","null"],"description":"Null: the provider's own.",
      "properties":{"content_type":{"type":"string"},"body":{"type":"string"}},"required":["content_type","body"]
     },
     "late_reply":{
      "type":["object","null"],
      "properties":{
       "to":{"type":"string","enum":["response_url"]},"ca_file":{"type":["string","null"]},
       "proxy":{"type":["string","null"]}
      },
      "required":["to","ca_file","proxy"]
     },
     "ordering_key":{"type":["string","null"]},
     "ack_deadline":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
     "max_body":{"type":"integer","description":"In bytes."},
     "redact":{"type":"array","items":{"type":"string"},"description":"Parts of its requests that are not shown."},
     "retention":{"type":["string","null"],"description":"Null: the store's."},"counts":{"$ref":"#/components/schemas/Counts"},
     "alarm":{
      "type":["object","null"],"description":"Not null while many requests to it are rejected.",
      "properties":{
       "since":{"type":"string","format":"date-time"},"rejected_last_minute":{"type":"integer"},
       "code":{"type":"string","description":"The most frequent one of that minute."}
      },
      "required":["since","rejected_last_minute","code"]
     }
    },
    "required":[
     "name","provider","path","secrets","destinations","tolerance","dedup_key","dedup_also","items",
     "dedup_window","missing_key","rearm","mode","late_answer","late_reply","ordering_key","ack_deadline","max_body",
     "redact","retention","counts","alarm"
    ]
   },
   "Destination":{
    "type":"object",
    "properties":{
     "name":{"type":"string"},"orphaned":{"type":"boolean"},
     "waiting":{"type":"integer","description":"Deliveries that are pending or in flight."},
     "paused":{"type":"boolean","description":"Held in the whole cluster."},
     "delivered":{"type":"integer","description":"Attempts of this gateway that succeeded since its start."},
     "failed":{"type":"integer","description":"Attempts of this gateway that failed since its start."},
     "delivered_last_minute":{"type":"integer"},
     "url":{"type":"string","description":"Without user, password and the values of its query."},
     "secrets":{"type":"integer"},
     "timeout":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
     "concurrency":{"type":"integer"},"rate_per_second":{"type":["number","null"]},
     "ordering":{"type":"boolean"},"on_dead":{"type":"string","enum":["block","skip"]},"resign":{"type":"boolean"},
     "lease":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
     "retry":{
      "type":"object",
      "properties":{
       "first":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
       "factor":{"type":"number"},
       "max":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
       "jitter":{"type":"number"},"attempts":{"type":"integer"},
       "give_up":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."}
      },
      "required":["first","factor","max","jitter","attempts","give_up"]
     },
     "breaker":{
      "type":"object",
      "properties":{
       "enabled":{"type":"boolean"},"state":{"type":"string","enum":["closed","open","half_open"]},
       "open_until":{"type":["string","null"],"format":"date-time","description":"Null while closed."},
       "opened":{"type":"integer","description":"How often since the start."},
       "failure_rate":{"type":"number"},"attempts":{"type":"integer"},
       "after":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
       "open":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."},
       "open_max":{"type":"string","description":"A duration as in the configuration: 250ms, 10s, 5m, 24h, 30d."}
      },
      "required":["enabled","state","open_until","opened","failure_rate","attempts","after","open","open_max"]
     },
     "allow_private":{"type":"boolean"},"ca_file":{"type":["string","null"]},"client_cert":{"type":["string","null"]},
     "proxy":{"type":["string","null"],"description":"Without user and password."}
    },
    "required":["name","orphaned","waiting","paused"]
   },
   "Pause":{
    "type":"object","properties":{"name":{"type":"string"},"paused":{"type":"boolean"}},"required":["name","paused"]
   },
   "Stats":{
    "type":"object",
    "properties":{
     "now":{"type":"string","format":"date-time"},"draining":{"type":"boolean"},
     "events":{"type":"integer","description":"In the inbox; may be an estimate."},
     "deliveries":{
      "type":"object",
      "properties":{
       "pending":{"type":"integer"},"in_flight":{"type":"integer"},"dead":{"type":"integer"},
       "orphaned":{"type":"integer"},"oldest_pending_at":{"type":["string","null"],"format":"date-time"},
       "delivered":{"type":"integer","description":"By this gateway since its start."}
      },
      "required":["pending","in_flight","dead","orphaned","oldest_pending_at","delivered"]
     },
     "sources":{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Counts"}},
     "destinations":{
      "type":"object",
      "additionalProperties":{"type":"object","properties":{"waiting":{"type":"integer"}},"required":["waiting"]}
     },
     "paused":{"type":"array","items":{"type":"string"},"description":"Destinations that are paused."},
     "store":{
      "type":"object",
      "properties":{
       "ready":{"type":"boolean"},"why":{"type":["string","null"]},
       "log_bytes":{"type":"integer","description":"Of the write-ahead log."},
       "weaknesses":{"type":"array","items":{"type":"string"}}
      },
      "required":["ready","why","log_bytes","weaknesses"]
     }
    },
    "required":["now","draining","events","deliveries","sources","destinations","paused","store"]
   }
  },
  "responses":{
   "InvalidParameter":{
    "description":"A parameter is unknown or cannot be read (invalid_parameter).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "Malformed":{
    "description":"The body is not JSON (malformed), or a parameter is unknown (invalid_parameter).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "Unauthorized":{
    "description":"The admin token is missing or wrong (unauthorized).",
    "headers":{"WWW-Authenticate":{"schema":{"type":"string"}}},
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "ForeignOrigin":{
    "description":"A page of another origin called (foreign_origin).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "NoSuchEvent":{
    "description":"No event has this id (no_such_event).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "NoSuchDestination":{
    "description":"No destination of this name is configured, nothing waits for it, and it is not paused (no_such_destination).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "BodyTooLarge":{
    "description":"More than 64 KiB (body_too_large).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "UnsupportedMediaType":{
    "description":"A body that is not application/json (unsupported_media_type).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "Misdirected":{
    "description":"Host is neither an IP literal, nor localhost, nor in server.admin_hosts (misdirected_request).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "InvalidField":{
    "description":"A field is unknown, of the wrong kind, or names a destination that is not configured (invalid_field).",
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   },
   "StoreUnavailable":{
    "description":"The store cannot answer now (store_unavailable).",
    "headers":{"Retry-After":{"schema":{"type":"string"}}},
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
   }
  }
 })json";
}  // namespace

std::string_view openapi_components() {
  return kText;
}

}  // namespace hookonce
