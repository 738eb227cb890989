// Slack: `X-Slack-Signature: v0=<hex>`, HMAC-SHA256 over `v0:<X-Slack-Request-Timestamp>:body`.
//
// One source takes all three kinds of request: events (JSON), slash commands (a form) and interactivity (a form whose
// field `payload` is JSON). Forms have no event id, their answers are shown to people, and they are never retried.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/json.h"
#include "core/dedup.h"
#include "provider/identity_reader.h"
#include "provider/key_ring.h"
#include "provider/provider.h"
#include "provider/refusal.h"
#include "provider/sample_text.h"
#include "provider/signed_header.h"
#include "provider/time_stamp.h"

namespace hookonce {
namespace {

constexpr std::string_view kSignatureHeader = "X-Slack-Signature";
constexpr std::string_view kTimeHeader = "X-Slack-Request-Timestamp";
constexpr std::string_view kVersion = "v0=";
constexpr std::string_view kHandshakeType = "url_verification";
constexpr std::string_view kSslCheck = "ssl_check";
constexpr std::string_view kCommandType = "slash_command:";
// The only places that are taken for a response_url: whoever could forge a request must not choose where answers go.
constexpr std::string_view kResponseHosts[] = {"https://hooks.slack.com/", "https://hooks.slack-gov.com/"};

using Values = std::vector<std::optional<std::string>>;

enum JsonOwn : std::size_t {
  kEventId,
  kType,
  kEventType,
  kTeam,
  kChannel,
  kChannelObject,
  kItemChannel,
  kUser,
  kUserObject,
  kLimitedMinute,
};

std::vector<FieldSpec> json_own_fields() {
  return {json_field("/event_id"),           json_field("/type"),
          json_field("/event/type"),         json_field("/team_id"),
          json_field("/event/channel"),      json_field("/event/channel/id"),
          json_field("/event/item/channel"), json_field("/event/user"),
          json_field("/event/user/id"),      json_field("/minute_rate_limited")};
}

enum FormOwn : std::size_t {
  kPayload,
  kCommand,
  kTrigger,
  kFormTeam,
  kFormChannel,
  kFormUser,
  kPayloadType,
  kPayloadTrigger,
  kViewId,
  kViewHash,
  kPayloadTeam,
  kPayloadUserTeam,
  kPayloadChannel,
  kContainerChannel,
  kPayloadUser,
};

std::vector<FieldSpec> form_own_fields() {
  const auto payload = [](std::string_view pointer) { return form_json_field("payload", pointer); };
  return {form_field("payload"),    form_field("command"),
          form_field("trigger_id"), form_field("team_id"),
          form_field("channel_id"), form_field("user_id"),
          payload("/type"),         payload("/trigger_id"),
          payload("/view/id"),      payload("/view/hash"),
          payload("/team/id"),      payload("/user/team_id"),
          payload("/channel/id"),   payload("/container/channel_id"),
          payload("/user/id")};
}

std::optional<std::string> ordering_of(const std::optional<std::string>& team,
                                       const std::optional<std::string>& place) {
  if (!team || !place) return std::nullopt;
  return *team + "/" + *place;
}

std::optional<std::vector<std::string>> event_key(const Values& own) {
  if (own[kEventId]) return std::vector<std::string>{*own[kEventId]};
  // The notice that events are being dropped has no id; there is one a minute and team.
  if (own[kType] == "app_rate_limited") return key_of({"slack", "app_rate_limited", own[kTeam], own[kLimitedMinute]});
  return std::nullopt;
}

std::optional<std::vector<std::string>> form_key(const Values& own) {
  if (!own[kPayload]) return key_of({"slack", "trigger", own[kTrigger]});
  if (!own[kPayloadTrigger]) return std::nullopt;
  // Only a submission is one per state of its view: buttons inside an unchanged view may be pressed again.
  if (own[kPayloadType] == "view_submission" && own[kViewId] && own[kViewHash]) {
    return key_of({"slack", "view", own[kViewId], own[kViewHash]});
  }
  return key_of({"slack", "trigger", own[kPayloadTrigger]});
}

// A slash command's and a message action's is one field; a view's submission has a list of them.
std::vector<FieldSpec> response_url_fields() {
  return {form_field("response_url"), form_json_field("payload", "/response_url"),
          form_json_field("payload", "/response_urls/0/response_url")};
}

bool is_response_url(std::string_view url) {
  const bool is_plain = std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '\\'; });
  return is_plain && std::any_of(std::begin(kResponseHosts), std::end(kResponseHosts),
                                 [&](std::string_view host) { return url.substr(0, host.size()) == host; });
}

// Looks for the field without decoding the form: everything else in such a request is ignored, broken escapes included.
bool is_ssl_check(const HttpRequest& request) {
  if (body_kind(request) != BodyKind::kForm) return false;
  const auto fields = split(request.body, '&');
  return std::find(fields.begin(), fields.end(), "ssl_check=1") != fields.end();
}

std::optional<RetryHint> retry_hint(const Headers& headers) {
  constexpr std::int64_t kRetriesMax = 1'000'000;  // keeps a forged number from overflowing an int
  const auto number = parse_digits(headers.first("X-Slack-Retry-Num").value_or(""));
  if (!number || *number > kRetriesMax) return std::nullopt;
  return RetryHint{static_cast<int>(*number), std::string(headers.first("X-Slack-Retry-Reason").value_or(""))};
}

std::string signature(const KeyRing& keys, std::size_t secret, std::string_view time_text, std::string_view body) {
  return std::string(kVersion) + keys.sign(secret, {"v0:", time_text, ":", body}, SignatureText::kHex);
}

class BoundSlack final : public BoundProvider {
 public:
  BoundSlack(KeyRing keys, const BindSettings& settings)
      : keys_(std::move(keys)),
        tolerance_(settings.tolerance),
        json_reader_(settings, json_own_fields(), BodyKind::kJson),
        form_reader_(settings, form_own_fields(), BodyKind::kForm) {}

  std::optional<HttpResponse> unsigned_handshake(const HttpRequest& request) const override {
    if (!is_ssl_check(request)) return std::nullopt;
    return HttpResponse{};
  }

  Verification verify(const HttpRequest& request, Time now) const override {
    const SignedHeader header = signed_header(request.headers, kSignatureHeader);
    if (header.refusal) return *header.refusal;
    const SignedHeader time = signed_header(request.headers, kTimeHeader);
    if (time.refusal) return *time.refusal;
    const std::optional<Time> stamp = parse_unix_seconds(time.value);
    if (!stamp) return refused_malformed(kTimeHeader, "unix seconds, digits only");

    Verification verification = verify_signature(header.value, time.value, request.body);
    if (verification.reason == Reason::kOk) {
      verification.signature_hash = signature_hash({time.value, header.value});
      if (auto refusal = time_stamp_refusal(*stamp, now, tolerance_)) verification = *refusal;
    }
    verification.provider_time = stamp;
    return verification;
  }

  std::optional<HttpResponse> handshake(const HttpRequest& request) const override {
    // Nearly every request is an event: only one that could be a handshake is read a second time.
    if (body_kind(request) != BodyKind::kJson || request.body.find(kHandshakeType) == std::string::npos)
      return std::nullopt;
    static const FieldReader reader({json_field("/type"), json_field("/challenge")});
    const Fields fields = reader.read(request);
    if (!fields.body.ok() || fields.values[0] != kHandshakeType || !fields.values[1]) return std::nullopt;
    HttpResponse response;
    response.headers.add("Content-Type", "application/json");
    response.body = fmt::format(R"({{"challenge":{}}})", json_quoted(*fields.values[1]));
    return response;
  }

  Identity identify(const HttpRequest& request) const override {
    Identity identity = body_kind(request) == BodyKind::kForm ? identify_form(request) : identify_event(request);
    identity.retry = retry_hint(request.headers);
    return identity;
  }

  bool empty_answer(const HttpRequest& request) const override { return body_kind(request) == BodyKind::kForm; }

  // A person sees the text of an answer, and Slack shows JSON that it does not know as an error.
  std::optional<HttpResponse> late_answer(const HttpRequest&) const override { return HttpResponse(); }

  std::optional<std::string> response_url(const Headers& headers, std::string_view body) const override {
    static const FieldReader reader(response_url_fields());
    HttpRequest request;
    request.headers = headers;
    request.body = body;
    if (body_kind(request) != BodyKind::kForm) return std::nullopt;
    std::vector<std::optional<std::string>> found = reader.read(request).values;
    auto url = first_of({std::move(found[0]), std::move(found[1]), std::move(found[2])});
    return url && is_response_url(*url) ? url : std::nullopt;
  }

  std::optional<Headers> resign(const Headers& original, std::string_view body, Time now) const override {
    const auto signature_name = arrived_name(original, kSignatureHeader);
    const auto time_name = arrived_name(original, kTimeHeader);
    if (!signature_name || !time_name) return std::nullopt;
    const std::string time_text = unix_seconds(now);
    return Headers{{*time_name, time_text}, {*signature_name, signature(keys_, 0, time_text, body)}};
  }

 private:
  Verification verify_signature(std::string_view value, std::string_view time_text, std::string_view body) const {
    if (value.substr(0, kVersion.size()) != kVersion) {
      const std::size_t equals = value.find('=');
      if (value.front() != 'v' || equals == std::string_view::npos)
        return refused_malformed(kSignatureHeader, "v0=<hex>");
      return refused(Reason::kUnknownSignatureVersion,
                     fmt::format("header {} is of another version; only v0 is accepted", kSignatureHeader));
    }
    const std::string_view listed[] = {value.substr(kVersion.size())};
    const auto secret = keys_.match({"v0:", time_text, ":", body}, SignatureText::kHex, listed);
    if (!secret) return refused_mismatch("copy the app's signing secret again; a development app has another one");
    Verification verification;
    verification.secret = *secret;
    return verification;
  }

  Identity identify_event(const HttpRequest& request) const {
    auto [identity, own] = json_reader_.read(request);
    if (!json_reader_.key_is_configured()) identity.key = event_key(own);
    identity.type = own[kType] == "event_callback" ? own[kEventType].value_or("") : own[kType].value_or("");
    if (!json_reader_.ordering_is_configured()) {
      identity.ordering_key = ordering_of(
          own[kTeam], first_of({own[kChannel], own[kChannelObject], own[kItemChannel], own[kUser], own[kUserObject]}));
    }
    return std::move(identity);
  }

  Identity identify_form(const HttpRequest& request) const {
    auto [identity, own] = form_reader_.read(request);
    if (!form_reader_.key_is_configured()) identity.key = form_key(own);
    if (!own[kPayload] && !own[kCommand] && form_reader_.key_lies_in_body() && identity.body.ok()) {
      identity.body = invalid("the form has neither `payload` nor `command`");
    }
    if (is_ssl_check(request)) {
      identity.type = kSslCheck;
    } else if (own[kPayload]) {
      identity.type = own[kPayloadType].value_or("");
    } else if (own[kCommand]) {
      identity.type = std::string(kCommandType) + *own[kCommand];
    }
    if (!form_reader_.ordering_is_configured()) {
      identity.ordering_key = ordering_of(first_of({own[kFormTeam], own[kPayloadTeam], own[kPayloadUserTeam]}),
                                          first_of({own[kFormChannel], own[kPayloadChannel], own[kContainerChannel],
                                                    own[kFormUser], own[kPayloadUser]}));
    }
    return std::move(identity);
  }

  KeyRing keys_;
  Duration tolerance_;
  IdentityReader json_reader_;
  IdentityReader form_reader_;
};

std::string sample_event(std::string_view id, std::string_view type) {
  const std::string seconds = unix_seconds(sample_time(id));
  return fmt::format(
      R"({{"token":"sample","team_id":"T0SAMPLE","api_app_id":"A0SAMPLE","event":{{"type":{},"text":"déjà vu 🚀",)"
      R"("user":"U0SAMPLE","ts":"{}.000100","channel":"C0SAMPLE","event_ts":"{}.000100"}},"type":"event_callback",)"
      R"("event_id":{},"event_time":{}}})",
      json_quoted(type), seconds, seconds, json_quoted(id), seconds);
}

std::string sample_command(std::string_view trigger, std::string_view command) {
  return fmt::format(
      "token=sample&team_id=T0SAMPLE&channel_id=C0SAMPLE&user_id=U0SAMPLE&command={}&text=1%2B1%3D2+caf%C3%A9&trigger_"
      "id={}",
      percent_encode(command), percent_encode(trigger));
}

class Slack final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "slack";
      t.ack_deadline = std::chrono::seconds(2);
      t.tolerance = std::chrono::minutes(5);
      t.retry_horizon = std::chrono::hours(24);  // with Delayed Events; some six minutes without
      t.resigns = true;
      t.retries.in_headers = true;
      t.retries.signs_anew = true;
      t.has_response_url = true;
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, settings.secrets));
    return std::unique_ptr<const BoundProvider>(std::make_unique<BoundSlack>(std::move(keys), settings));
  }

  std::string sample_id(std::string_view seed) const override { return "Ev" + seeded_text(seed, 16); }

  Result<SampleMessage> sample(const SampleRequest& request, std::string_view secret, Time now) const override {
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, {std::string(secret)}));
    const bool is_command = request.type.compare(0, kCommandType.size(), kCommandType) == 0;
    SampleMessage message;
    if (!request.body.empty()) {
      message.body = request.body;
    } else if (is_command) {
      message.body = sample_command(request.id, request.type.substr(kCommandType.size()));
    } else {
      message.body = sample_event(request.id, request.type.empty() ? "message" : request.type);
    }
    const std::string time_text = unix_seconds(now);
    message.headers.add("Content-Type", is_command ? "application/x-www-form-urlencoded" : "application/json");
    message.headers.add("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)");
    message.headers.add(std::string(kTimeHeader), time_text);
    message.headers.add(std::string(kSignatureHeader), signature(keys, 0, time_text, message.body));
    if (request.retry) {
      message.headers.add("X-Slack-Retry-Num", fmt::format("{}", request.retry_number));
      message.headers.add("X-Slack-Retry-Reason", "http_timeout");
    }
    return message;
  }

  std::optional<std::string> event_id(const HttpRequest& request) const override {
    if (body_kind(request) == BodyKind::kForm) return std::nullopt;
    static const FieldReader reader({json_field("/event_id")});
    return reader.read(request).values[0];
  }
};

}  // namespace

const Provider& slack_provider() {
  static const Slack provider;
  return provider;
}

}  // namespace hookonce
