// The inbox in memory: the executable specification that every other backend is compared with. Nothing survives the
// process.
//
// Clear before fast: what a store must answer can be read here without knowing any database.
#pragma once

#include <memory>

#include "store/store.h"

namespace hookonce {

std::unique_ptr<Store> make_memory_store();

}  // namespace hookonce
