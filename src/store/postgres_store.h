// The shared inbox: a schema in a PostgreSQL database, used by any number of gateways at once, also through PgBouncer
// in transaction mode.
//
// The server judges everything by its own clock: leases, due times and windows do not move with a gateway's. Each verb
// is one transaction on a connection of its own from a small pool; what each does is in the file of its name. What a
// gateway may rely on while the server is away: every call answers kUnavailable at once, and recover() brings the store
// back when the server is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/inbox_records.h"
#include "store/store.h"

namespace hookonce {

// kCaller: the `now` of each call, for tests that move the time.
enum class PostgresClock { kServer, kCaller };

// Connects, checks the server, brings the tables up to date. Errors: open.h.
Result<std::unique_ptr<Store>> open_postgres_store(std::string_view url, PostgresClock clock = PostgresClock::kServer,
                                                   OpenFor use = OpenFor::kServing);

bool is_postgres_url(std::string_view url);
// Whether it is a valid one, without connecting; the message never quotes it, because it may hold a password.
Status check_postgres_url(std::string_view url);
std::string shown_postgres_url(std::string_view url);  // without user and password

}  // namespace hookonce
