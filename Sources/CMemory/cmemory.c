#include "cmemory.h"

#include <stdint.h>
#include <string.h>

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
