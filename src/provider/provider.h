// The knowledge of one sender of webhooks: how it signs, what identifies its events, how it wants to be answered.
//
// A Provider is stateless and lives for the process (registry.cc lists them all). bind() ties it to one source's
// secrets and settings; everything a BoundProvider does is pure over the request and `now`, const, and safe on several
// threads.
//
//   HK_ASSIGN(auto bound, find_provider("stripe")->bind(settings));
//   if (auto answer = bound->unsigned_handshake(request)) return *answer;
//   Verification v = bound->verify(request, now);
//   if (v.reason == Reason::kOk) { Identity identity = bound->identify(request); ... }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_message.h"
#include "base/result.h"
#include "core/config.h"
#include "core/model.h"

namespace hookonce {

// Why verification ended as it did; the words of the vectors in test/vectors.
enum class Reason {
  kOk,
  kSignatureMismatch,
  kMissingHeader,
  kMalformedHeader,
  kMissingSignature,
  kMissingTimestamp,
  kMissingToken,
  kTokenMismatch,
  kTimestampTooOld,
  kTimestampInFuture,
  kUnknownSignatureVersion,
  kNoSignatureWithExpectedScheme,
};
std::string_view to_string(Reason reason);  // "signature_mismatch" ...
// Whether a configured secret made the signature: of kOk, and where only the time stamp is refused.
bool is_signed_rightly(Reason reason);

struct Verification {
  Reason reason = Reason::kOk;
  int secret = 0;                     // index of the secret that verified; valid where reason is kOk
  std::optional<Time> provider_time;  // the signed time stamp, where there is a readable one
  // core/dedup.h's signature_hash() of a verified request; zeros where nothing about a request is signed but its body.
  KeyHash signature_hash{};
  std::string message;  // for people, with the mend; never an expected signature
};

// One item of a batch.
struct ItemIdentity {
  std::optional<std::vector<std::string>> key;  // as Identity::key
  std::size_t offset = 0;                       // where its text lies in the body
  std::size_t size = 0;
};

struct Identity {
  // The dedup key's parts; nullopt where one is missing (then `missing_key` decides).
  std::optional<std::vector<std::string>> key;
  // Of a source with `items`: in the order of the array, at most kItemsMax. Empty: there is no array, or nothing in it,
  // and the request has no key.
  std::vector<ItemIdentity> items;
  // One per dedup_also spec of the settings; nullopt where missing.
  std::vector<std::optional<std::string>> also;
  std::string type;
  std::optional<std::string> ordering_key;
  std::optional<RetryHint> retry;
  // Not ok: the dedup key must be read from the body, and the body is not what it claims to be, or has too many items:
  // 400 `malformed`.
  Status body;
  bool ping = false;  // the provider's test event; an ordinary event, named so in vectors
};

struct BindSettings {
  std::vector<std::string> secrets;  // resolved
  Duration tolerance{};
  std::vector<FieldSpec> dedup_key;  // empty: the provider's default
  std::vector<FieldSpec> dedup_also;
  std::optional<std::string> items;  // as SourceConfig::items
  std::optional<FieldSpec> ordering_key;
  std::optional<HmacScheme> hmac;
  std::optional<TokenScheme> token;
};

class BoundProvider {
 public:
  virtual ~BoundProvider() = default;

  // The answer to a handshake that the provider sends unsigned (Slack `ssl_check`), or nullopt. Everything else in such
  // a request is ignored: it is looked at before verification.
  virtual std::optional<HttpResponse> unsigned_handshake(const HttpRequest& request) const;

  // Headers present, then signature over the raw bytes (any secret, any listed signature), then time stamp.
  // `now` is wall time.
  virtual Verification verify(const HttpRequest& request, Time now) const = 0;

  // The answer to a verified handshake (`url_verification`), or nullopt. REQUIRES: verified.
  virtual std::optional<HttpResponse> handshake(const HttpRequest& request) const;

  // REQUIRES: verified.
  virtual Identity identify(const HttpRequest& request) const = 0;

  // Whether an accepted arrival must be answered with an empty body because the provider reads it or shows it to
  // people.
  virtual bool empty_answer(const HttpRequest& request) const;

  // What the sender gets with 200 from a synchronous source whose destination does not answer in time; nullopt: the
  // same as for an accepted arrival. REQUIRES: verified.
  virtual std::optional<HttpResponse> late_answer(const HttpRequest& request) const;

  // Where the provider takes a reply that comes late, as the request says; nullopt where it says nothing, or names an
  // address that is not the provider's own. REQUIRES: verified.
  virtual std::optional<std::string> response_url(const Headers& headers, std::string_view body) const;

  // Fresh signature and time stamp headers for a body that was verified, under the header names with which `original`
  // arrived; by the source's own secrets. nullopt where the scheme allows none. `now` is wall time.
  virtual std::optional<Headers> resign(const Headers& original, std::string_view body, Time now) const;
};

// A correctly signed request as the provider would send it, for `send`, `hammer` and the demo.
struct SampleRequest {
  std::string type;    // empty: the provider's usual one
  std::string id;      // the provider's event id
  std::string body;    // empty: a sample; else the given one as it is
  bool retry = false;  // with the provider's retry headers
  int retry_number = 1;
  std::string signature_header;  // the `hmac` provider's --header; empty for the others
};
struct SampleMessage {
  Headers headers;  // content type, signature, ids: everything but Host and Content-Length
  std::string body;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual const ProviderTraits& traits() const = 0;

  // kInvalid where a secret is not of the provider's form; the message names which one (by position), never its value.
  virtual Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const = 0;

  // A new id of the provider's form ("evt_...", "Ev..."), made of `seed` so that equal seeds give equal ids.
  virtual std::string sample_id(std::string_view seed) const = 0;
  // kInvalid where the provider cannot sign (`token`, `none`, a public key).
  virtual Result<SampleMessage> sample(const SampleRequest& request, std::string_view secret, Time now) const = 0;
  // The provider's id of an event from a request as a backend receives it (`sink --verify`, effects); nullopt where
  // none.
  virtual std::optional<std::string> event_id(const HttpRequest& request) const = 0;
};

}  // namespace hookonce
