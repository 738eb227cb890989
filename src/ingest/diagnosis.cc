#include "ingest/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "ingest/rewriting.h"
#include "provider/registry.h"

namespace hookonce {

namespace {

constexpr std::size_t kOfOneTry = 512;  // what a try costs beside hashing the body, in bytes

// So many time stamps of a source say which clock is wrong; a few may all be of one old request.
constexpr std::size_t kStampsMin = 5;

class Allowance {
 public:
  // Whether the body may be verified once more.
  bool take(const IngestSource& source, std::size_t body) {
    const std::size_t cost = (body + kOfOneTry) * std::max<std::size_t>(source.config->secrets.size(), 1);
    if (cost > left_) return false;
    left_ -= cost;
    return true;
  }

 private:
  std::size_t left_ = kDiagnosisBytesMax;
};

bool verifies(const IngestSource& source, const HttpRequest& request) {
  return is_signed_rightly(source.provider->verify(request, request.wall_at).reason);
}

std::optional<std::string> of_other_source(const SourceTable& table, const IngestSource& source,
                                           const HttpRequest& request, Allowance& allowance) {
  for (const auto& [path, other] : table.all()) {
    // Without secrets anything verifies, which proves nothing.
    if (&other == &source || other.config->secrets.empty()) continue;
    if (!allowance.take(other, request.body.size())) return std::nullopt;
    if (!verifies(other, request)) continue;
    return fmt::format(
        "it verifies with the secret of source \"{0}\": either the sender has the URL of this source in place of {1}, "
        "or the two secrets are mixed up in the configuration",
        other.config->name, to_utf8(other.config->path));
  }
  return std::nullopt;
}

// The commonest mix-up: the lines of two providers' secrets stand in each other's place.
std::optional<std::string> of_exchanged_secrets(const SourceTable& table, const IngestSource& source,
                                                const HttpRequest& request, Allowance& allowance) {
  for (const auto& [path, other] : table.all()) {
    if (&other == &source || other.config->secrets.empty()) continue;
    BindSettings settings = bind_settings(*source.config);
    settings.secrets = other.config->secrets;
    const auto exchanged = find_provider(source.config->provider)->bind(settings);
    if (!exchanged.ok()) continue;  // they are no secrets of this provider
    if (!allowance.take(other, request.body.size())) return std::nullopt;
    if (!is_signed_rightly((*exchanged)->verify(request, request.wall_at).reason)) continue;
    return fmt::format(
        "it verifies with a secret that the configuration gives to source \"{}\": the two are mixed up there",
        other.config->name);
  }
  return std::nullopt;
}

std::string without_blanks(std::string_view secret) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = secret.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return std::string(secret.substr(first, secret.find_last_not_of(kBlanks) - first + 1));
}

std::string without_quotes(std::string_view secret) {
  const bool is_quoted =
      secret.size() > 2 && secret.front() == secret.back() && (secret.front() == '"' || secret.front() == '\'');
  return std::string(is_quoted ? secret.substr(1, secret.size() - 2) : secret);
}

// How a secret is mistaken on its way from the sender's page into the configuration.
struct Mistake {
  std::string (*mended)(std::string_view secret);
  std::string_view mend;
};
constexpr Mistake kMistakes[] = {
    {without_blanks, "without the blanks around it"},
    {without_quotes, "without the quotes around it, which whoever reads the environment file does not remove"},
    {[](std::string_view secret) { return from_base64(secret).value_or(std::string(secret)); },
     "decoded as base64: put in the bytes, as a `file:`"},
    {[](std::string_view secret) { return from_hex(secret).value_or(std::string(secret)); },
     "decoded as hexadecimal: put in the bytes, as a `file:`"},
};

std::optional<std::string> of_mistaken_secret(const IngestSource& source, const HttpRequest& request,
                                              Allowance& allowance) {
  for (const Mistake& mistake : kMistakes) {
    BindSettings settings = bind_settings(*source.config);
    for (std::string& secret : settings.secrets) secret = mistake.mended(secret);
    if (settings.secrets == source.config->secrets) continue;
    const auto mended = find_provider(source.config->provider)->bind(settings);
    if (!mended.ok()) continue;  // it would not be a secret then
    if (!allowance.take(source, request.body.size())) return std::nullopt;
    if (!is_signed_rightly((*mended)->verify(request, request.wall_at).reason)) continue;
    return fmt::format("it verifies with a configured secret {}", mistake.mend);
  }
  return std::nullopt;
}

std::optional<std::string> of_rewriting(const IngestSource& source, HttpRequest request, Allowance& allowance) {
  std::optional<std::string> found;
  const std::string body = std::move(request.body);
  for_each_rewriting(body, [&](const Rewriting& rewriting) {
    if (!allowance.take(source, rewriting.body.size())) return false;
    request.body = rewriting.body;
    if (!verifies(source, request)) return true;
    found = fmt::format(
        "the body was changed after signing: the signature fits {}. Something on the way (a proxy, a middleware) wrote "
        "it anew; let it pass the raw bytes on, and the sender send it again",
        rewriting.how);
    return false;
  });
  return found;
}

std::string distance_text(Duration distance) {
  return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(std::chrono::abs(distance)).count());
}

// Of a right signature whose time stamp is out of tolerance.
std::optional<std::string> of_clocks(const IngestSource& source, const HttpRequest& request, Time stamp) {
  const Duration ahead = request.wall_at - stamp;  // this machine's clock
  const std::string own = fmt::format("the signature is right, and this machine's clock is {} {} its time stamp",
                                      distance_text(ahead), ahead < Duration::zero() ? "behind" : "ahead of");
  const ClockSkew& skew = source.counters->clock_skew;
  const auto median = skew.median();
  if (!median || skew.count() < kStampsMin) return own + "; check the clock, and whether a proxy holds requests back";
  if (std::chrono::abs(*median) > source.config->tolerance) {
    return own +
           "; most of this source's last time stamps are out of tolerance too, so probably this machine's clock "
           "is wrong: set it right";
  }
  return own +
         "; most of this source's last time stamps are not, so probably this request was held back on the way, "
         "or is an old one that was sent again";
}

}  // namespace

std::optional<std::string> diagnose(const SourceTable& table, const IngestSource& source, HttpRequest request) {
  Allowance allowance;
  if (!allowance.take(source, request.body.size())) return std::nullopt;
  const Verification own = source.provider->verify(request, request.wall_at);
  if (own.reason == Reason::kOk) return std::nullopt;
  if (is_signed_rightly(own.reason)) {
    if (!own.provider_time) return std::nullopt;
    return of_clocks(source, request, *own.provider_time);
  }
  if (auto other = of_other_source(table, source, request, allowance)) return other;
  if (own.reason != Reason::kSignatureMismatch && own.reason != Reason::kTokenMismatch) return std::nullopt;
  if (auto exchanged = of_exchanged_secrets(table, source, request, allowance)) return exchanged;
  if (auto mistake = of_mistaken_secret(source, request, allowance)) return mistake;
  if (own.reason != Reason::kSignatureMismatch) return std::nullopt;
  if (request.body.empty()) return own.message + "; the body arrived empty: perhaps something on the way dropped it";
  return of_rewriting(source, std::move(request), allowance);
}

}  // namespace hookonce
