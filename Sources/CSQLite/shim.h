// What Swift's importer cannot see of SQLite. One line each, with the reason.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro, which is not imported.
static inline sqlite3_destructor_type _Nullable csqlite_transient(void) { return SQLITE_TRANSIENT; }

// sqlite3_config takes variable arguments, which are not imported. The number is that of bytes; -1 is no limit.
static inline int csqlite_spill_statements_at(int bytes) { return sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, bytes); }

// For the same reason. The number is that of pages which every page cache allocates before its first one.
static inline int csqlite_allocate_pages(int count) { return sqlite3_config(SQLITE_CONFIG_PAGECACHE, 0, 0, count); }

// For the same reason. Whether SQLite counts the memory it uses.
static inline int csqlite_count_memory(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }
#endif
