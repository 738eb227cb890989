// Counters, gauges and histograms, rendered as Prometheus text (exposition format 0.0.4).
//
//   Counter& accepted = metrics().counter("hookonce_accepted_total", "First arrivals accepted", {{"source", name}});
//   accepted.add();
//
// The same name and labels give the same object, which lives as long as the registry: look it up once, then add without
// a lock. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hookonce {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t delta) { value_.fetch_add(delta, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Fixed buckets for latencies from 0.5 ms to 60 s, in seconds.
class Histogram {
 public:
  static constexpr double kBounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                       0.25,   0.5,   1,      2.5,   5,    10,    60};
  void observe(double seconds);
  std::uint64_t bucket(std::size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  double sum() const { return static_cast<double>(sum_micros_.load(std::memory_order_relaxed)) / 1e6; }

 private:
  std::atomic<std::uint64_t> buckets_[sizeof(kBounds) / sizeof(kBounds[0])] = {};  // not cumulative
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_micros_{0};
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {});
  std::string render() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The process's registry.
Metrics& metrics();

}  // namespace hookonce
