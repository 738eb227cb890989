// The tables of a SQLite inbox, as numbered migrations, and the marks by which a file is known to be one.
//
// To change the tables: add a migration with the next number to sqlite_schema.cc and never touch a landed one; a test
// opens a file of every older number.
#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite_database.h"

namespace hookonce {

// Makes an empty file an inbox, or brings an older one up to date. kPrecondition: not SQLite, not ours, newer than this
// version.
Status prepare_schema(Database& database, const std::string& path);

// kPrecondition where the file is not an inbox of this version or an older one; changes nothing.
Status check_schema(Database& database, const std::string& path);

}  // namespace hookonce
