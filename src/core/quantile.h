// Quantiles of a latency histogram: what lies inside a bucket is taken as evenly spread. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/metrics.h"

namespace hookonce {

// How many observations in each bucket, not cumulative; the last one is for those above the highest bound.
using BucketCounts = std::array<std::uint64_t, std::size(Histogram::kBounds) + 1>;

// What `histogram` holds. While others observe, one that is being counted may be missing, and none is counted twice.
BucketCounts buckets_of(const Histogram& histogram);

// In seconds, the highest bound at the most; nullopt where there is no observation. REQUIRES: 0 < q < 1.
std::optional<double> quantile(const BucketCounts& counts, double q);

}  // namespace hookonce
