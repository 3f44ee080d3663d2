// Memory that another processor, or the disk, uses next, and copies to it.
#ifndef CMEMORY_H
#define CMEMORY_H
#include <stddef.h>

/// memcpy(3) with stores that go past the processor's caches: the cache lines of `to` are neither read nor kept, so it
/// does not matter which processor, or the disk, had them before. Another thread that learns of the copy in an
/// ordinary way (a lock, a queue) sees all of it.
void cmemory_copy_past_cache(void *_Nonnull to, const void *_Nonnull from, size_t count);

/// The size of a huge page of the common processors, and its alignment.
#define CMEMORY_HUGE_PAGE (2 << 20)

/// Memory of zeros that is one huge page, if the system has one to give (madvise(2), MADV_HUGEPAGE): the disk gets it in
/// one piece. Ends the program when there is no memory.
void *_Nonnull cmemory_take_huge_page(void);

/// Returns the result of cmemory_take_huge_page.
void cmemory_give_huge_page(void *_Nonnull memory);
#endif
