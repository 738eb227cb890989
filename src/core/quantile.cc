#include "core/quantile.h"

#include <numeric>

namespace hookonce {

BucketCounts buckets_of(const Histogram& histogram) {
  // The total first: whoever observes counts its bucket before it, so that nothing of a bucket is taken for an
  // overflow.
  const std::uint64_t total = histogram.count();
  BucketCounts counts{};
  std::uint64_t within = 0;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) within += counts[i] = histogram.bucket(i);
  counts.back() = total > within ? total - within : 0;
  return counts;
}

std::optional<double> quantile(const BucketCounts& counts, double q) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (total == 0) return std::nullopt;
  const double rank = q * static_cast<double>(total);
  double below = 0;
  double lower = 0;
  for (std::size_t i = 0; i < std::size(Histogram::kBounds); ++i) {
    const double upper = Histogram::kBounds[i];
    const auto count = static_cast<double>(counts[i]);
    if (count > 0 && below + count >= rank) return lower + (upper - lower) * (rank - below) / count;
    below += count;
    lower = upper;
  }
  return lower;
}

}  // namespace hookonce
