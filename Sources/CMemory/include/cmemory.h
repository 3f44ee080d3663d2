// Copies for memory that another processor, or the disk, uses next.
#ifndef CMEMORY_H
#define CMEMORY_H
#include <stddef.h>

/// memcpy(3) with stores that go past the processor's caches: the cache lines of `to` are neither read nor kept, so it
/// does not matter which processor, or the disk, had them before. Another thread that learns of the copy in an
/// ordinary way (a lock, a queue) sees all of it.
void cmemory_copy_past_cache(void *_Nonnull to, const void *_Nonnull from, size_t count);
#endif
