// The functions of the schema that commits, claims and settling call, as statements of migrations.
//
// A statement without a name is planned each time it comes; a function keeps the plans of its statements for as long as
// the server's session lives, whichever gateway a pooler lends it to. So what every batch needs stands in functions,
// and the gateway sends only calls. They lock, read and write rows; what a batch means is decided in the gateway.
//
// Never change one that has landed: a gateway of the version before may still call it. Add another.
#pragma once

#include <span>

namespace hookonce {

// For the migration that keys lines by a hash; behind it, the tables are as these functions want them.
std::span<const char* const> batch_functions();

// The migration that gives arrivals what tells one request from another and keys of one event apart, with what reads
// and writes it. Of older arrivals, and of those that a gateway of the version before writes, nothing is known.
std::span<const char* const> signatures_of_arrivals();

// For the migration behind the one that keeps a batch's new items.
std::span<const char* const> item_functions();

// Migration 10: an advisory lock belongs to the whole database, so a line's is made of its inbox's schema too. Inboxes
// in one database would else wait for each other.
std::span<const char* const> locks_of_one_inbox();

}  // namespace hookonce
