// What Redis's errors mean to a store, and in which words a person reads them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "store/redis_connection.h"

namespace hookonce {

// ok where the reply is no error. An error says that nothing was done: the scripts write only when all is decided.
// kUnavailable: the server cannot take it now. kPrecondition: it never will without a person. kInternal: this batch.
Status error_of(RedisReply reply);

// The word by which Redis names its errors ("OOM", "WRONGTYPE"), also where a script passed one on.
std::string_view error_word(std::string_view text);

// Whether an error leaves the server as able to serve as it was before.
bool concerns_one_call(std::string_view word);

}  // namespace hookonce
