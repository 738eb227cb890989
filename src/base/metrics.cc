#include "base/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <variant>

#include "base/bytes.h"
#include "base/check.h"
#include "base/sync.h"

namespace hookonce {
namespace {

// A label's value or a help text as the exposition format wants it.
std::string escape(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : to_utf8(text)) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// `a="1",b="2"` sorted by name, so that one set of labels is one series in whatever order it is given.
std::string label_text(Labels labels) {
  std::sort(labels.begin(), labels.end());
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}=\"{}\"", name, escape(value, true));
  }
  return out;
}

std::string in_braces(std::string_view labels) {
  return labels.empty() ? "" : fmt::format("{{{}}}", labels);
}

template <typename Value>
void render_series(std::string& out, std::string_view name, const std::string& labels, const Value& series) {
  fmt::format_to(std::back_inserter(out), "{}{} {}\n", name, in_braces(labels), series.value());
}

void render_series(std::string& out, std::string_view name, const std::string& labels, const Histogram& series) {
  const std::string before_le = labels.empty() ? "" : labels + ",";
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < std::size(Histogram::kBounds); ++i) {
    cumulative += series.bucket(i);
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"{}\"}} {}\n", name, before_le, Histogram::kBounds[i],
                   cumulative);
  }
  // The counters move while they are read one by one; a total below a bucket would be an invalid histogram.
  const std::uint64_t total = std::max(cumulative, series.count());
  fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"+Inf\"}} {}\n", name, before_le, total);
  fmt::format_to(std::back_inserter(out), "{}_sum{} {}\n", name, in_braces(labels), series.sum());
  fmt::format_to(std::back_inserter(out), "{}_count{} {}\n", name, in_braces(labels), total);
}

template <typename Value>
using SeriesOf = std::map<std::string, std::unique_ptr<Value>>;  // by label_text()

struct Family {
  std::string help;
  std::variant<SeriesOf<Counter>, SeriesOf<Gauge>, SeriesOf<Histogram>> series;
};

std::string_view type_name(const Family& family) {
  constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  return kTypes[family.series.index()];
}

}  // namespace

void Histogram::observe(double seconds) {
  constexpr double kSecondsMax = 1e9;  // keeps the conversion defined, whatever a clock did
  const double clamped = seconds > 0 ? std::min(seconds, kSecondsMax) : 0;  // a NaN is 0 as well
  const auto bound = std::lower_bound(std::begin(kBounds), std::end(kBounds), clamped);
  if (bound != std::end(kBounds)) {
    buckets_[std::distance(std::begin(kBounds), bound)].fetch_add(1, std::memory_order_relaxed);
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  sum_micros_.fetch_add(static_cast<std::uint64_t>(clamped * 1e6), std::memory_order_relaxed);
}

struct Metrics::State {
  Mutex mutex;
  std::map<std::string, Family, std::less<>> families GUARDED_BY(mutex);

  // REQUIRES: a name always has the same type.
  template <typename Value>
  Value& series(std::string_view name, std::string_view help, const Labels& labels) {
    const std::string key = label_text(labels);
    MutexLock lock(mutex);
    auto family = families.find(name);
    if (family == families.end()) {
      family = families.emplace(std::string(name), Family{std::string(help), SeriesOf<Value>()}).first;
    }
    auto* all = std::get_if<SeriesOf<Value>>(&family->second.series);
    HK_CHECK(all != nullptr);
    std::unique_ptr<Value>& entry = (*all)[key];
    if (entry == nullptr) entry = std::make_unique<Value>();
    return *entry;
  }
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
  return state_->series<Counter>(name, help, labels);
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  return state_->series<Gauge>(name, help, labels);
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, const Labels& labels) {
  return state_->series<Histogram>(name, help, labels);
}

std::string Metrics::render() const {
  std::string out;
  MutexLock lock(state_->mutex);
  for (const auto& [name, family] : state_->families) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, escape(family.help, false), name,
                   type_name(family));
    std::visit(
        [&out, &family_name = name](const auto& all) {
          for (const auto& [labels, series] : all) render_series(out, family_name, labels, *series);
        },
        family.series);
  }
  return out;
}

Metrics& metrics() {
  // Never destroyed: threads may count until the very end of the process.
  static Metrics* const registry = new Metrics;
  return *registry;
}

}  // namespace hookonce
