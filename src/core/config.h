// The configuration as an immutable value; every key of docs/configuration.md, with its default.
//
// Loaded by core/config_load.h, which reports every mistake at once. A running gateway holds a shared_ptr<const Config>
// and swaps it whole on reload.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/breaker.h"
#include "core/condition.h"
#include "core/fields.h"
#include "core/retry.h"

namespace hookonce {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// What a provider is known to do when it sends a request again: what core/cause.h concludes from.
struct RetryHabits {
  bool by_itself = true;        // false: it never sends again without a person, and is waited for longer (G7)
  bool in_headers = false;      // each of its retries says in a header that it is one
  bool signs_anew = false;      // each of its requests has a time stamp and a signature of its own
  bool changes_body = false;    // the body holds something about the sending, so that a retry may have other bytes
  std::vector<Duration> waits;  // its documented schedule, from each try to the next; empty: none is published
};

// What the configuration must know of a provider; one per entry of the provider registry, handed in by the caller
// because core/ does not know providers.
struct ProviderTraits {
  std::string_view name;            // as configured: "stripe"
  std::string_view alias;           // another name for it ("svix"), or empty
  Duration ack_deadline{};          // default of `ack_deadline`
  Duration tolerance{};             // default of `tolerance`; zero: the scheme has no time stamp
  Duration retry_horizon{};         // from the first attempt to the last automatic retry; zero: none, or unknown
  std::size_t max_body = 4 * kMiB;  // default of `max_body`
  bool needs_secret = true;
  bool needs_hmac = false;          // the [hmac] table is required, and allowed only here
  bool needs_token = false;         // the [token] table is required, and allowed only here
  bool takes_items = false;         // `items` is allowed only here
  bool resigns = false;             // `resign` has an effect
  bool has_response_url = false;    // its requests may name an address that takes a late reply
  bool carries_webhook_id = false;  // events carry webhook-id, -timestamp and -signature (or svix-*) of their own
  RetryHabits retries;
};

struct HmacScheme {
  enum class Algorithm { kSha1, kSha256, kSha512 };
  enum class Encoding { kHex, kBase64 };
  std::string header;
  Algorithm algorithm = Algorithm::kSha256;
  Encoding encoding = Encoding::kHex;
  std::string prefix;
  std::string signed_text = "{body}";  // {body} {timestamp} {id}
  std::optional<FieldSpec> timestamp;  // header: only
};

struct TokenScheme {
  std::string header;      // the header that carries the token, or
  std::string basic_user;  // HTTP basic authentication with this user; exactly one of both is set
};

enum class MissingKey { kAccept, kHash, kReject };
enum class SourceMode { kAsync, kSync };
// What a dead delivery does to the later ones of its ordering key.
enum class OnDead { kBlock, kSkip };

struct SourceDestination {
  std::string name;
  std::vector<std::string> types;  // patterns with `*`; empty: every type
  std::vector<Condition> when;     // all of them must hold
};

// What the sender of a synchronous source gets, with 200, where its destination's answer does not come in time.
struct LateAnswerConfig {
  std::string content_type;  // empty: none
  std::string body;
};

// The way to the address in the request that takes a late reply.
struct LateReplyConfig {
  std::string ca_file;  // as DestinationConfig's
  std::string proxy;    // likewise
};

struct SourceConfig {
  std::string name;
  std::string provider;  // the registry's name, aliases resolved
  std::string path;
  std::vector<std::string> secrets;  // resolved values; never logged
  std::vector<SourceDestination> destinations;
  Duration tolerance{};
  std::vector<FieldSpec> dedup_key;  // empty: the provider's default
  std::vector<FieldSpec> dedup_also;
  // A batch: the JSON pointer to the array in the body whose elements are items; dedup_key is read within each.
  std::optional<std::string> items;
  Duration dedup_window = std::chrono::hours(24 * 30);
  MissingKey missing_key = MissingKey::kAccept;
  bool rearm = true;
  SourceMode mode = SourceMode::kAsync;
  std::optional<LateAnswerConfig> late_answer;  // nullopt: the provider's own
  std::optional<LateReplyConfig> late_reply;    // nullopt: a late reply is kept and goes nowhere
  std::optional<FieldSpec> ordering_key;
  Duration ack_deadline{};
  std::vector<FieldSpec> redact;      // what people may not see, as core/redact.h takes it
  std::optional<Duration> retention;  // nullopt: the store's
  RetryHabits retries;                // the provider's
  std::size_t max_body = 0;
  std::optional<HmacScheme> hmac;
  std::optional<TokenScheme> token;
};

struct DestinationConfig {
  std::string name;
  std::string url;
  std::vector<std::string> secrets;  // Standard Webhooks signing secrets, resolved
  Duration timeout = std::chrono::seconds(10);
  int concurrency = 16;
  std::optional<double> rate;  // attempts a second
  bool ordering = false;
  OnDead on_dead = OnDead::kBlock;  // means something with ordering only
  // Whether a line goes on without its dead one. Where no order is kept any more, nothing is held up.
  bool skips_dead() const { return !ordering || on_dead == OnDead::kSkip; }
  bool resign = true;
  Duration lease{};  // default: timeout + kLeaseMargin
  RetryPolicy retry;
  BreakerPolicy breaker;
  bool allow_private = true;
  std::string ca_file;      // PEM file: the authorities that are trusted instead of the system's
  std::string client_cert;  // PEM files of our own certificate and its key; both or none
  std::string client_key;
  std::string proxy;  // "http://proxy:3128", resolved and perhaps with a password; empty: none
};

inline constexpr Duration kLeaseMargin = std::chrono::seconds(20);    // default lease = timeout + this
inline constexpr Duration kLeaseMarginMin = std::chrono::seconds(5);  // a lease below timeout + this is an error

struct ServerConfig {
  std::vector<std::string> listen = {"0.0.0.0:8080"};
  std::string admin = "127.0.0.1:8081";
  std::string admin_token;  // resolved; empty: none
  std::vector<std::string> admin_hosts;
  std::optional<std::size_t> max_body;  // the limit for every source where set
  std::size_t max_inflight = 256 * kMiB;
  Duration drain = std::chrono::seconds(25);
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> trusted_proxies;  // addresses and CIDR blocks
  std::string public_url;
};

struct StoreConfig {
  std::string url = "sqlite:hookonce.db";
  Duration retention = std::chrono::hours(24 * 30);
  std::size_t rejected_limit = 1000;
  std::size_t rejected_bytes = 64 * kMiB;
};

struct Config {
  ServerConfig server;
  StoreConfig store;
  std::map<std::string, SourceConfig, std::less<>> sources;
  std::map<std::string, DestinationConfig, std::less<>> destinations;
};

// Whether `pattern` ("invoice.*", "*") matches the whole of `type`.
bool type_matches(std::string_view pattern, std::string_view type);

}  // namespace hookonce
