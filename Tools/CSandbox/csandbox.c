#include "csandbox.h"

#include <string.h>

static uint64_t number(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

// The first box of an MP4 file (ISO/IEC 14496-12, section 4.3), so that what is generated is taken for a film.
static const uint8_t beginning[16] = {0, 0, 0, 16, 'f', 't', 'y', 'p', 'i', 's', 'o', 'm', 0, 0, 2, 0};

void csandbox_fill(uint64_t seed, uint64_t offset, uint8_t *buffer, size_t count) {
    while (offset < sizeof beginning && count > 0) {
        *buffer++ = beginning[offset++];
        count--;
    }
    uint64_t index = offset / 8;
    size_t skip = (size_t)(offset % 8);
    while (count > 0) {
        uint64_t word = number(seed, index++);
        size_t part = 8 - skip < count ? 8 - skip : count;
        memcpy(buffer, (const uint8_t *)&word + skip, part);
        buffer += part;
        count -= part;
        skip = 0;
    }
}

uint32_t csandbox_crc32(uint32_t crc, const uint8_t *bytes, size_t count) {
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (UINT32_C(0xEDB88320) & (0u - (crc & 1u)));
    }
    return ~crc;
}
