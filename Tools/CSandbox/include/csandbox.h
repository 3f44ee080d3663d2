// Media bytes from a counter. In C because a debug build of Swift makes them a hundred times slower than they are sent.
#ifndef CSANDBOX_H
#define CSANDBOX_H
#include <stddef.h>
#include <stdint.h>

/// Writes `count` bytes of the endless stream of `seed`, from `offset` on. The bytes 8·n … 8·n+7 are SplitMix64 number
/// n of the seed, little-endian, so that any range costs only its own length. The first 16 are replaced by the
/// beginning of an MP4 file.
void csandbox_fill(uint64_t seed, uint64_t offset, uint8_t *_Nonnull buffer, size_t count);

/// The CRC-32 of gzip (RFC 1952) over `count` bytes, continued from `crc`; 0 to begin.
uint32_t csandbox_crc32(uint32_t crc, const uint8_t *_Nonnull bytes, size_t count);
#endif
