#include "app/store_copy.h"

#include "base/clock.h"
#include "store/open.h"

namespace hookonce {

Result<CopyReport> copy_store(const std::string& from_url, const std::string& to_url, const CopyWatch& watch) {
  for (const std::string& url : {from_url, to_url}) HK_TRY(check_store_url(url));
  if (from_url == to_url) return invalid("store copy: both sides are " + shown_store_url(from_url));
  const Clock& clock = system_clock();
  // The source first: where it cannot be read, the target is not even made.
  HK_ASSIGN(const auto source, open_store(from_url, clock.now(), OpenFor::kCopyingFrom));
  HK_ASSIGN(const auto target, open_store(to_url, clock.now(), OpenFor::kCopyingInto));
  return copy_inbox({*source, shown_store_url(from_url)}, {*target, shown_store_url(to_url)}, clock, watch);
}

}  // namespace hookonce
