// The table of one source.
#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "core/config_sections.h"
#include "core/redact.h"

namespace hookonce {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr std::size_t kPathMax = 1024;
constexpr Limits<Duration> kToleranceLimits{milliseconds(1), kLongest};
constexpr Limits<Duration> kDedupWindowLimits{milliseconds(1), kLongest};
constexpr Limits<Duration> kRetentionLimits{milliseconds(1), kLongest};
constexpr Limits<Duration> kAckDeadlineLimits{milliseconds(1), minutes(5)};  // no provider waits longer

const ProviderTraits* read_provider(ConfigTable& table, const ConfigWorld& world) {
  std::vector<std::string> names;
  for (const ProviderTraits& traits : world.providers) {
    names.emplace_back(traits.name);
    if (!traits.alias.empty()) names.emplace_back(traits.alias);
  }
  std::string name;
  if (table.find("provider") == nullptr) {
    table.missing("provider", fmt::format("; known are {}", join(names, ", ")));
    return nullptr;
  }
  if (!table.read("provider", name)) return nullptr;
  if (const ProviderTraits* traits = find_traits(name, world)) return traits;
  const std::optional<std::string> near = nearest(name, names);
  table.error("provider",
              near ? fmt::format("unknown provider {}; did you mean `{}`?", shown(name), *near)
                   : fmt::format("unknown provider {}; this version knows {}", shown(name), join(names, ", ")));
  return nullptr;
}

void read_path(ConfigTable& table, SourceConfig& source) {
  source.path = "/in/" + source.name;
  if (!table.read("path", source.path)) return;
  const std::string& path = source.path;
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (path.front() != '/') {
    table.error("path", fmt::format("{} must begin with `/`; did you mean `/{}`?", shown(path), path));
  } else if (path.find_first_of("?#") != std::string::npos) {
    table.error("path", fmt::format("{} must be a path alone, without `?` and `#`", shown(path)));
  } else if (!std::all_of(path.begin(), path.end(), is_visible)) {
    table.error("path", fmt::format("{} holds characters that arrive as %XX; write it as it arrives", shown(path)));
  } else if (path.size() > kPathMax) {
    table.error("path", fmt::format("is longer than {} bytes", kPathMax));
  } else if (path == "/healthz" || path == "/readyz" || path == "/healthz/" || path == "/readyz/") {
    table.error("path",
                fmt::format("{} is the gateway's own; choose another, as in \"/in/{}\"", shown(path), source.name));
  }
}

std::optional<SourceDestination> read_destination_entry(ConfigTable& table, const ConfigNode& item) {
  if (item.kind == ConfigNode::Kind::kString && !item.text.empty()) return SourceDestination{item.text, {}, {}};
  if (item.kind != ConfigNode::Kind::kTable) {
    table.error_at(item.line, "destinations",
                   "an entry must be a name or { name = \"backend\", types = [\"invoice.*\"] }");
    return std::nullopt;
  }
  ConfigTable entry(item, table.path("destinations"), ConfigSection::kSourceDestination, table.problems());
  SourceDestination destination;
  if (entry.find("name") == nullptr) entry.missing("name", "; write name = \"backend\"");
  const bool has_name = entry.read("name", destination.name);
  if (entry.read("types", destination.types) && destination.types.empty()) {
    entry.error("types", "is empty, so no event would ever be delivered; leave it out for every type");
  }
  destination.when = read_when(entry);
  entry.report_unknown();
  if (!has_name) return std::nullopt;
  return destination;
}

void read_destinations(ConfigTable& table, SourceConfig& source) {
  constexpr std::string_view kMend = "write destinations = [\"backend\"]";
  const ConfigNode* node = table.find("destinations");
  if (node == nullptr) {
    return table.missing("destinations", fmt::format(", so its events would go nowhere; {}", kMend));
  }
  if (node->kind != ConfigNode::Kind::kList) {
    return table.error("destinations", fmt::format("must be a list, not {}; {}", kind_name(node->kind), kMend));
  }
  if (node->items.empty()) {
    return table.error("destinations", fmt::format("is empty, so its events would go nowhere; {}", kMend));
  }
  for (const ConfigNode& item : node->items) {
    std::optional<SourceDestination> entry = read_destination_entry(table, item);
    if (!entry) continue;
    const bool is_known = std::any_of(source.destinations.begin(), source.destinations.end(),
                                      [&](const SourceDestination& other) { return other.name == entry->name; });
    if (is_known) {
      table.error_at(item.line, "destinations",
                     fmt::format("{} is named twice; put all its types into one entry, or give the url a second name "
                                 "under [destinations]",
                                 shown(entry->name)));
    } else {
      source.destinations.push_back(*std::move(entry));
    }
  }
}

// `items` says that a body is a batch; then the dedup key lies in each item.
void read_items(ConfigTable& table, const ProviderTraits* traits, SourceConfig& source) {
  constexpr std::string_view kEveryElement = "/*";
  std::optional<FieldSpec> items;
  if (!table.read("items", items)) return;
  std::string pointer = items->pointer;
  const bool is_array = items->kind == FieldSpec::Kind::kJson && pointer.size() >= kEveryElement.size() &&
                        pointer.substr(pointer.size() - kEveryElement.size()) == kEveryElement;
  if (!is_array) {
    return table.error("items", fmt::format("{} must name the elements of an array in the body, as in "
                                            "\"json:/events/*\", or \"json:/*\" where the body is the array",
                                            shown(items->text())));
  }
  pointer.resize(pointer.size() - kEveryElement.size());
  source.items = std::move(pointer);
  if (traits != nullptr && !traits->takes_items) {
    table.error("items", fmt::format("has no meaning for provider `{}`, whose requests carry one event each; remove it",
                                     traits->name));
  }
  const bool in_items = std::all_of(source.dedup_key.begin(), source.dedup_key.end(),
                                    [](const FieldSpec& spec) { return spec.kind == FieldSpec::Kind::kJson; });
  if (!in_items) {
    table.error("dedup_key", "is read within each item where `items` is set; write it as in \"json:/id\"");
  }
  if (!source.dedup_also.empty()) {
    table.error("dedup_also", "has no meaning where `items` is set: each item has its one dedup_key; remove it");
  }
}

void read_dedup(ConfigTable& table, const ProviderTraits* traits, SourceConfig& source) {
  if (table.read("dedup_key", source.dedup_key) && source.dedup_key.empty()) {
    table.error("dedup_key", "is empty; leave it out for the provider's own event id");
  }
  table.read("dedup_also", source.dedup_also);
  read_items(table, traits, source);
  table.read("dedup_window", kDedupWindowLimits, source.dedup_window);
  std::size_t word = 0;
  if (table.read("missing_key", {"accept", "hash", "reject"}, word)) source.missing_key = static_cast<MissingKey>(word);
  table.read("rearm", source.rearm);
  table.read("ordering_key", source.ordering_key);
}

// What becomes the event's key or ordering key is shown with it, in lists and logs.
void warn_of_shown_key(ConfigTable& table, std::string_view key, const FieldSpec& field, const SourceConfig& source) {
  if (!hides_field(source.redact, field)) return;
  table.warn("redact",
             fmt::format("hides `{0}`, which {1} reads: the value is shown all the same, as the event's key in "
                         "lists and logs; take another place for {1}",
                         field.text(), key));
}

// An item's key is shown nowhere, but whoever guesses it is told whether there is such an event.
void warn_of_item_keys(ConfigTable& table, const SourceConfig& source) {
  for (FieldSpec field : source.dedup_key) {
    if (field.kind == FieldSpec::Kind::kJson) field.pointer = *source.items + "/*" + field.pointer;
    if (!hides_field(source.redact, field)) continue;
    table.warn("redact", fmt::format("hides `{}`, which dedup_key reads: an event is found by the value all the same "
                                     "(`hookonce show KEY`); take another place for dedup_key",
                                     field.text()));
  }
}

void read_data_care(ConfigTable& table, SourceConfig& source) {
  Duration retention{};
  if (table.read("retention", kRetentionLimits, retention)) {
    source.retention = retention;
    if (source.dedup_window > retention) {
      table.warn("retention",
                 fmt::format("{} is shorter than the dedup_window, {}: a late duplicate is still recognised, but the "
                             "event it belongs to is gone and can no longer be shown; raise retention or lower "
                             "dedup_window",
                             format_duration(retention), format_duration(source.dedup_window)));
    }
  }
  table.read("redact", source.redact);
  if (source.items) {
    warn_of_item_keys(table, source);
  } else {
    for (const FieldSpec& field : source.dedup_key) warn_of_shown_key(table, "dedup_key", field, source);
  }
  if (source.ordering_key) warn_of_shown_key(table, "ordering_key", *source.ordering_key, source);
}

// A header's name, as hmac and token want it.
void read_header_name(ConfigTable& table, std::string& out) {
  if (!table.read("header", out)) return;
  if (!FieldSpec::parse("header:" + out).ok()) {
    table.error("header", fmt::format("{} is no header name; write it bare, as in \"X-Signature\"", shown(out)));
  }
}

// {body} must be signed; what is in braces must be known and readable.
void check_signed_text(ConfigTable& table, const HmacScheme& hmac, const SourceConfig& source) {
  const std::string& text = hmac.signed_text;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const std::size_t close = text.find('}', open);
    const std::string part = text.substr(open, close == std::string::npos ? close : close - open + 1);
    if (part == "{body}") continue;
    if (part == "{timestamp}") {
      if (!hmac.timestamp)
        table.error("signed", "holds {timestamp}; say where it stands: timestamp = \"header:X-Timestamp\"");
    } else if (part == "{id}") {
      if (source.items)
        table.error("signed", "holds {id}, and with `items` there is no one id; remove either");
      else if (source.dedup_key.size() != 1)
        table.error("signed", "holds {id}, which is the one part of the source's dedup_key; set that");
    } else {
      table.error("signed", fmt::format("{} is unknown; possible are {{body}}, {{timestamp}} and {{id}}", shown(part)));
    }
  }
  if (text.find("{body}") == std::string::npos) {
    table.error("signed", "must hold {body}: otherwise one signature would verify any body");
  }
  if (hmac.timestamp && text.find("{timestamp}") == std::string::npos) {
    table.warn(
        "timestamp",
        "is not part of `signed`, so anybody can renew it on an old request; add {timestamp} if the sender signs it");
  }
}

void read_hmac(ConfigTable& parent, const ConfigNode& node, SourceConfig& source) {
  ConfigTable table(node, parent.path("hmac"), ConfigSection::kHmac, parent.problems());
  HmacScheme hmac;
  if (table.find("header") == nullptr) table.missing("header", "; write header = \"X-Signature\"");
  read_header_name(table, hmac.header);
  std::size_t word = 0;
  if (table.read("algorithm", {"sha1", "sha256", "sha512"}, word))
    hmac.algorithm = static_cast<HmacScheme::Algorithm>(word);
  if (table.read("encoding", {"hex", "base64"}, word)) hmac.encoding = static_cast<HmacScheme::Encoding>(word);
  const ConfigNode* prefix = table.find("prefix");  // an empty one is its default, so read() would refuse too much
  if (prefix != nullptr && !(prefix->kind == ConfigNode::Kind::kString && prefix->text.empty())) {
    table.read("prefix", hmac.prefix);
  }
  table.read("signed", hmac.signed_text);
  if (table.read("timestamp", hmac.timestamp) && hmac.timestamp->kind != FieldSpec::Kind::kHeader) {
    table.error("timestamp", "must be a header, as in \"header:X-Timestamp\"");
  }
  check_signed_text(table, hmac, source);
  table.report_unknown();
  source.hmac = std::move(hmac);
}

void read_token(ConfigTable& parent, const ConfigNode& node, SourceConfig& source) {
  ConfigTable table(node, parent.path("token"), ConfigSection::kToken, parent.problems());
  TokenScheme token;
  read_header_name(table, token.header);
  if (table.read("basic_user", token.basic_user) && token.basic_user.find(':') != std::string::npos) {
    table.error("basic_user", "must not hold `:`, which ends the user in basic authentication");
  }
  const int given = (table.find("header") != nullptr ? 1 : 0) + (table.find("basic_user") != nullptr ? 1 : 0);
  if (given != 1) table.error("", "needs either header = \"X-Token\" or basic_user = \"name\", exactly one of them");
  table.report_unknown();
  source.token = std::move(token);
}

// [hmac] and [token] are required by one provider each and mean nothing to the others.
void read_schemes(ConfigTable& table, const ProviderTraits* traits, SourceConfig& source) {
  const ConfigNode* hmac = table.find("hmac");
  const ConfigNode* token = table.find("token");
  if (hmac != nullptr) read_hmac(table, *hmac, source);
  if (token != nullptr) read_token(table, *token, source);
  if (traits == nullptr) return;
  const auto no_effect = [&](std::string_view key) {
    table.error(key, fmt::format("has no meaning for provider `{}`; remove it or change the provider", traits->name));
  };
  if (hmac == nullptr && traits->needs_hmac) {
    table.missing(
        "hmac", fmt::format(" and provider `{}` needs it; write hmac = {{ header = \"X-Signature\" }}", traits->name));
  }
  if (token == nullptr && traits->needs_token) {
    table.missing("token",
                  fmt::format(" and provider `{}` needs it; write token = {{ header = \"X-Token\" }}", traits->name));
  }
  if (hmac != nullptr && !traits->needs_hmac) no_effect("hmac");
  if (token != nullptr && !traits->needs_token) no_effect("token");
}

// What is legal and probably not meant.
void warn_of_provider(ConfigTable& table, const ProviderTraits& traits, const SourceConfig& source) {
  const bool verifies = traits.needs_secret || traits.needs_hmac || traits.needs_token;
  if (!verifies) {
    table.warn("provider",
               fmt::format("provider `{}` VERIFIES NOTHING: whoever knows the path can send events; use it only where "
                           "nobody else reaches the gateway",
                           traits.name));
    if (!source.secrets.empty()) table.warn("secrets", fmt::format("has no effect for provider `{}`", traits.name));
  }
  const bool is_generic = traits.needs_hmac || traits.needs_token || !verifies;
  if (is_generic && source.dedup_key.empty() && source.missing_key != MissingKey::kHash) {
    table.warn("dedup_key",
               source.missing_key == MissingKey::kAccept
                   ? "is missing, so every arrival becomes an event of its own and no duplicate is recognised; set "
                     "dedup_key = \"json:/id\", or missing_key = \"hash\""
                   : "is missing, so missing_key = \"reject\" refuses every request; set dedup_key = \"json:/id\"");
  }
  const bool has_time_stamp =
      traits.needs_hmac ? source.hmac && source.hmac->timestamp : traits.tolerance > Duration::zero();
  if (!has_time_stamp && table.find("tolerance") != nullptr) {
    table.warn("tolerance", "has no effect: this source's requests carry no time stamp that could be checked");
  }
  if (source.dedup_window < traits.retry_horizon) {
    table.warn("dedup_window",
               fmt::format("{} is shorter than provider `{}` goes on retrying ({}): a late retry would be a new event; "
                           "raise dedup_window",
                           format_duration(source.dedup_window), traits.name, format_duration(traits.retry_horizon)));
  }
}

void read_source_secrets(ConfigTable& table, const ProviderTraits* traits, const ConfigWorld& world,
                         SourceConfig& source) {
  const ConfigNode* node = table.find("secrets");
  const bool is_list = node != nullptr && node->kind == ConfigNode::Kind::kList;
  const bool is_none = node == nullptr || (is_list && node->items.empty());
  const bool good = read_secrets(table, ConfigSection::kSource, source.name, world, source.secrets);
  if (traits == nullptr) return;
  if (is_none && traits->needs_secret) {
    const std::string rest =
        fmt::format(", so nothing could be verified; write {}", secrets_example(ConfigSection::kSource, source.name));
    return node == nullptr ? table.missing("secrets", rest) : table.error("secrets", "is empty" + rest);
  }
  // The provider binds the whole source: without its scheme the judgement would be about that, which is reported
  // already.
  const bool has_scheme = (!traits->needs_hmac || source.hmac) && (!traits->needs_token || source.token);
  if (!(good || is_none) || !has_scheme || !world.check_source) return;
  const Status status = world.check_source(source);
  if (!status.ok()) table.error("secrets", status.message());
}

}  // namespace

SourceConfig read_source(ConfigTable& table, const std::string& name, const ServerConfig& server,
                         const ConfigWorld& world) {
  SourceConfig source;
  source.name = name;
  const ProviderTraits* traits = read_provider(table, world);
  if (traits != nullptr) {
    source.provider = traits->name;
    source.tolerance = traits->tolerance;
    source.ack_deadline = traits->ack_deadline;
    source.retries = traits->retries;
  }
  source.max_body = server.max_body.value_or(traits != nullptr ? traits->max_body : ProviderTraits{}.max_body);
  read_path(table, source);
  read_destinations(table, source);
  table.read("tolerance", kToleranceLimits, source.tolerance);
  read_dedup(table, traits, source);
  read_data_care(table, source);
  table.read("ack_deadline", kAckDeadlineLimits, source.ack_deadline);
  read_mode(table, traits, world, source);
  read_schemes(table, traits, source);
  read_source_secrets(table, traits, world, source);
  if (traits != nullptr) warn_of_provider(table, *traits, source);
  table.report_unknown();
  return source;
}

}  // namespace hookonce
