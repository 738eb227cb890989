#include "admin/openapi_parts.h"

namespace hookonce {

namespace {
constexpr std::string_view kText = R"json(
  "/api/v1/rejected":{
   "get":{
    "operationId":"listRejected","summary":"Requests that were rejected, newest first, with the reason.",
    "description":"Equal ones stand here once and are counted. The list is bounded: the oldest of a source gives way to its newest.",
    "parameters":[
     {"name":"source","in":"query","description":"Requests to this source.","schema":{"type":"string"}},
     {
      "name":"limit","in":"query","description":"Requests in one page; there may be fewer where they are large.",
      "schema":{"type":"integer","minimum":1,"maximum":500,"default":50}
     },
     {"name":"cursor","in":"query","description":"next_cursor of the page before.","schema":{"type":"string"}}
    ],
    "responses":{
     "200":{
      "description":"One page.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{
           "type":"array",
           "items":{
            "type":"object",
            "properties":{
             "id":{"type":"string","format":"uuid"},"source":{"type":"string"},"code":{"type":"string"},
             "reason":{"type":"string"},"remote":{"type":"string"},
             "first_at":{"type":"string","format":"date-time"},"last_at":{"type":"string","format":"date-time"},
             "count":{"type":"integer"},"path":{"type":"string"},"size":{"type":"integer"},
             "headers":{"type":"array","items":{"type":"array","items":{"type":"string"}}},
             "body":{"type":["string","null"]},"body_base64":{"type":"string"},"body_cut":{"type":"boolean"},
             "body_hidden":{"type":"string","description":"Why the body is not shown."}
            },
            "required":[
             "id","source","code","reason","remote","first_at","last_at","count","path","size","headers","body_cut"
            ]
           }
          },
          "next_cursor":{"type":["string","null"]}
         },
         "required":["items","next_cursor"]
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
  "/api/v1/rejected/{id}/accept":{
   "post":{
    "operationId":"acceptRejected","summary":"Verifies a rejected request again, with today's secrets as of the moment of its arrival.",
    "description":"Where it verifies now it is an arrival as any other, and leaves the list.",
    "parameters":[
     {
      "name":"id","in":"path","required":true,"description":"The rejected request's id.",
      "schema":{"type":"string","format":"uuid"}
     }
    ],
    "responses":{
     "200":{
      "description":"The event is durable.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "status":{"type":"string","enum":["accepted","duplicate","rearmed"]},
          "id":{"type":"string","format":"uuid"}
         },
         "required":["status","id"]
        }
       }
      }
     },
     "404":{
      "description":"No rejected request with this id is kept (no_such_rejected), or its source is gone (no_such_source).",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
     },
     "422":{
      "description":"It still does not verify; the code and the message say why.",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},"403":{"$ref":"#/components/responses/ForeignOrigin"},
     "413":{"$ref":"#/components/responses/BodyTooLarge"},
     "415":{"$ref":"#/components/responses/UnsupportedMediaType"},
     "401":{"$ref":"#/components/responses/Unauthorized"},"421":{"$ref":"#/components/responses/Misdirected"},
     "503":{"$ref":"#/components/responses/StoreUnavailable"}
    }
   }
  })json";
}  // namespace

std::string_view openapi_rejected_paths() {
  return kText;
}

}  // namespace hookonce
