// Why a rejected request was refused, as far as it can be proven: for the operator alone, never for the sender.
//
// It tries what a person would try: the secrets of the other sources, the own ones without what was put around them by
// mistake, and the bytes that the body may have had before
// something on the way wrote it anew. Each is judged by the provider's own verification, so that what is said is so.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/http_message.h"
#include "ingest/source_table.h"

namespace hookonce {

// How many bytes are verified for one request at the most, each secret's share counted: some tens of milliseconds, and
// some more where public keys verify. A larger body is not looked at.
inline constexpr std::size_t kDiagnosisBytesMax = 4 * 1024 * 1024;

// What is wrong with a request that `source` refused, and the mend; nullopt where no more is known than its sender was
// told, or where it would be accepted now. Never holds a secret or a signature. Pure but for `source.counters`, which
// it reads.
std::optional<std::string> diagnose(const SourceTable& table, const IngestSource& source, HttpRequest request);

}  // namespace hookonce
