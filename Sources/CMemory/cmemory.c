#include "cmemory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// What every processor of these architectures stores at once; it is loaded from any address.
typedef uint64_t Piece __attribute__((vector_size(16)));
typedef uint64_t LoosePiece __attribute__((vector_size(16), aligned(1), may_alias));

// A line of the cache. A store of less than one would be read first.
enum { LINE = 64, PIECES = LINE / sizeof(Piece) };

void cmemory_copy_past_cache(void *to, const void *from, size_t count) {
    char *target = to;
    const char *source = from;
    size_t lead = (LINE - (uintptr_t)target % LINE) % LINE;
    if (count < lead + LINE) {
        memcpy(target, source, count);
        return;
    }
    memcpy(target, source, lead);
    size_t done = lead;
    for (; count - done >= LINE; done += LINE) {
        const LoosePiece *pieces = (const LoosePiece *)(source + done);
        Piece *places = (Piece *)(target + done);
        for (int index = 0; index < PIECES; index++) __builtin_nontemporal_store(pieces[index], &places[index]);
    }
    memcpy(target + done, source + done, count - done);
    // Such stores may be seen later than the one by which another thread learns of them.
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

enum { HUGE_PAGE = CMEMORY_HUGE_PAGE };

void *cmemory_take_huge_page(void) {
    // Twice as much contains one at a multiple of its size; the rest is given back.
    char *memory = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // As every allocation of Swift ends without memory.
    if (memory == MAP_FAILED) abort();
    size_t lead = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (lead > 0) munmap(memory, lead);
    munmap(memory + lead + HUGE_PAGE, HUGE_PAGE - lead);
    // Where the system has none to give, it consists of small pages.
    madvise(memory + lead, HUGE_PAGE, MADV_HUGEPAGE);
    return memory + lead;
}

void cmemory_give_huge_page(void *memory) { munmap(memory, HUGE_PAGE); }
