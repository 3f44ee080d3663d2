/// The chunked coding (RFC 9112 section 7.1), with any anomaly.
enum Chunked {
    /// Codes a body.
    ///
    /// - Parameters:
    ///   - body: the bytes.
    ///   - size: of a chunk.
    ///   - end: the line ending behind the size and behind the bytes.
    ///   - last: the last chunk with its trailer.
    ///   - line: the line before a chunk, without its end, from the chunk's number and length.
    /// - Returns: the coded bytes.
    static func coded(
        _ body: ArraySlice<UInt8>, size: Int = 65_536, end: String = "\r\n", last: String = "0\r\n\r\n",
        line: (_ number: Int, _ count: Int) -> String = { String($1, radix: 16) }
    ) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(body.count + body.count / size * 16 + 64)
        for (number, start) in stride(from: body.startIndex, to: body.endIndex, by: size).enumerated() {
            let piece = body[start..<min(start + size, body.endIndex)]
            result += Array((line(number, piece.count) + end).utf8) + piece + Array(end.utf8)
        }
        return result + Array(last.utf8)
    }
}
