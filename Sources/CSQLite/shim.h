// What Swift's importer cannot see of SQLite. One line each, with the reason.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro, which is not imported.
static inline sqlite3_destructor_type _Nullable csqlite_transient(void) { return SQLITE_TRANSIENT; }
#endif
