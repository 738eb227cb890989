// The sources of one configuration, prepared for requests: paths, bound providers, counters. Immutable and thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/client_address.h"
#include "core/config.h"
#include "core/destination_choice.h"
#include "core/source_counters.h"
#include "ingest/line_limit.h"
#include "provider/provider.h"

namespace hookonce {

struct IngestSource {
  const SourceConfig* config = nullptr;  // in the table's configuration
  std::unique_ptr<const BoundProvider> provider;
  std::vector<std::string> also_spaces;  // dedup_also's specs as text: each is a key space of its own
  SourceCounters* counters = nullptr;
  DestinationChoice choice;
  std::optional<Duration> first_lease;  // synchronous: its one destination's lease
  std::vector<std::string> ordered;     // the destinations that keep order
  mutable LineLimit refusal_lines;
  mutable LineLimit explanation_lines;
};

class SourceTable {
 public:
  // kInvalid: an unknown provider, a secret that the provider cannot use, two sources with one path, a bad trusted
  // proxy.
  static Result<std::shared_ptr<const SourceTable>> build(std::shared_ptr<const Config> config);

  // By the request's path, byte for byte but for one trailing slash; null where there is none.
  const IngestSource* find(std::string_view path) const;
  const TrustedProxies& proxies() const { return proxies_; }
  const std::map<std::string, IngestSource, std::less<>>& all() const { return sources_; }

 private:
  std::shared_ptr<const Config> config_;
  TrustedProxies proxies_;
  std::map<std::string, IngestSource, std::less<>> sources_;  // by path without its trailing slash
};

}  // namespace hookonce
