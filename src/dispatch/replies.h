// A synchronous source's reply: what of a destination's answer its sender gets, and the way of one that comes late.
#pragma once

#include "base/result.h"
#include "core/config.h"
#include "dispatch/sender.h"
#include "http/client.h"

namespace hookonce {

// kInvalid says for people why the sender cannot have it. REQUIRES: answered with 2xx, read up to kReplyMax.
Result<Reply> reply_of(const ClientResponse& response);

// The post of a late reply; kInvalid where it cannot be posted. `source` may be null: it was removed.
Result<ClientRequest> late_reply_request(const LateReply& late, const SourceConfig* source);

// Log and metrics: how the post ended, and why there was none.
void report_sent(const LateReply& late, const ClientResponse& response);
void report_unsent(const LateReply& late, const Status& why);

}  // namespace hookonce
