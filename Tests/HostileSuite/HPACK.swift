import CNghttp2

/// Decodes the header compression of a client's requests (RFC 7541). Used by one thread.
@safe struct HeaderInflater: ~Copyable {
    private var pointer: OpaquePointer?

    init() { unsafe nghttp2_hd_inflate_new(&pointer) }

    deinit { unsafe nghttp2_hd_inflate_del(pointer) }

    /// The fields of a whole header block; `nil` when it is malformed.
    mutating func inflate(_ block: [UInt8]) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        var rest = block[...]
        while true {
            var pair = unsafe nghttp2_nv()
            var flags: Int32 = 0
            // The names and values are valid until the next call.
            let used = unsafe rest.withUnsafeBufferPointer { bytes in
                unsafe nghttp2_hd_inflate_hd2(pointer, &pair, &flags, bytes.baseAddress, bytes.count, 1)
            }
            guard used >= 0 else { return nil }
            rest = rest.dropFirst(used)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                unsafe fields.append((Self.text(pair.name, pair.namelen), Self.text(pair.value, pair.valuelen)))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
            if flags == 0, rest.isEmpty { break }
        }
        unsafe nghttp2_hd_inflate_end_headers(pointer)
        return fields
    }

    private static func text(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
        unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

/// Header blocks as a server sends them. Written as literals and never indexed: so they are independent of each other,
/// and names and values can be whatever a case needs.
enum HPACK {
    /// A block of literals without indexing (RFC 7541 section 6.2.2).
    static func block(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.flatMap { [0] + string($0.name) + string($0.value) }
    }

    /// A literal that goes into the table (RFC 7541 section 6.2.1).
    static func indexed(_ name: String, _ value: String) -> [UInt8] { [0x40] + string(name) + string(value) }

    /// A string without Huffman coding (RFC 7541 section 5.2).
    static func string(_ text: String) -> [UInt8] { integer(text.utf8.count, prefix: 7) + Array(text.utf8) }

    /// An integer (RFC 7541 section 5.1).
    static func integer(_ value: Int, prefix: Int) -> [UInt8] {
        let most = 1 << prefix - 1
        if value < most { return [UInt8(value)] }
        var bytes = [UInt8(most)]
        var rest = value - most
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
