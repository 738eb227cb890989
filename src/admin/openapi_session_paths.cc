#include "admin/openapi_parts.h"

namespace hookonce {

namespace {
constexpr std::string_view kText = R"json(
  "/api/v1/session":{
   "post":{
    "operationId":"beginSession","summary":"Signs a browser in.","security":[],
    "description":"The cookie is HttpOnly and SameSite=Strict, and every call accepts it in the place of the token.",
    "requestBody":{
     "required":true,
     "content":{
      "application/json":{
       "schema":{
        "type":"object","properties":{"token":{"type":"string"}},"required":["token"],"additionalProperties":false
       }
      }
     }
    },
    "responses":{
     "204":{"description":"Signed in.","headers":{"Set-Cookie":{"schema":{"type":"string"}}}},
     "400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/components/responses/Unauthorized"},
     "403":{"$ref":"#/components/responses/ForeignOrigin"},"413":{"$ref":"#/components/responses/BodyTooLarge"},
     "415":{"$ref":"#/components/responses/UnsupportedMediaType"},
     "421":{"$ref":"#/components/responses/Misdirected"},"422":{"$ref":"#/components/responses/InvalidField"},
     "429":{
      "description":"Too many wrong tokens are being tried; this one was not looked at (too_many_tokens). Any call that bears a token may be answered so.",
      "headers":{"Retry-After":{"schema":{"type":"string"}}},
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}
     }
    }
   },
   "get":{
    "operationId":"showSession","summary":"Whether a token is needed, and whether this caller has it.","security":[],
    "responses":{
     "200":{
      "description":"As of now.",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{"token_required":{"type":"boolean"},"signed_in":{"type":"boolean"}},
         "required":["token_required","signed_in"]
        }
       }
      }
     },
     "400":{"$ref":"#/components/responses/InvalidParameter"},"421":{"$ref":"#/components/responses/Misdirected"}
    }
   },
   "delete":{
    "operationId":"endSession","summary":"Signs a browser out.","security":[],
    "responses":{
     "204":{"description":"Signed out.","headers":{"Set-Cookie":{"schema":{"type":"string"}}}},
     "400":{"$ref":"#/components/responses/InvalidParameter"},"403":{"$ref":"#/components/responses/ForeignOrigin"},
     "421":{"$ref":"#/components/responses/Misdirected"}
    }
   }
  })json";
}  // namespace

std::string_view openapi_session_paths() {
  return kText;
}

}  // namespace hookonce
