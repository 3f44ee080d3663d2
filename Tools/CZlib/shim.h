// Parts of zlib that Swift's importer cannot see.
#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

/// `inflateInit2` is a macro. Unpacks one gzip member (RFC 1952) that fills the input; -1 when it is none, or is larger
/// than the output buffer.
static inline ptrdiff_t czlib_gunzip(const uint8_t *_Nonnull input, size_t count, uint8_t *_Nonnull output,
                                     size_t room) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, 15 + 16) != Z_OK) return -1;
    stream.next_in = (Bytef *)input;
    stream.avail_in = (uInt)count;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    int result = inflate(&stream, Z_FINISH);
    ptrdiff_t made = result == Z_STREAM_END && stream.avail_in == 0 ? (ptrdiff_t)(room - stream.avail_out) : -1;
    inflateEnd(&stream);
    return made;
}
#endif
