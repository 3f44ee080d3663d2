/// Tools shared by several cases.
extension Visit {
    /// Cuts the first answer that starts at the first byte, so that there is something to resume.
    ///
    /// - Parameters:
    ///   - count: bytes of the body before the FIN.
    ///   - media: another version than the usual one.
    /// - Returns: the cut answer; `nil` for a later part, and when it was cut already.
    func firstCut(after count: Int = 1_500_000, of media: Media? = nil) -> Reply? {
        guard !asked.isLaterPart, isFirst("whole") else { return nil }
        return .answer(honest(media).with { $0.ending = .cut(after: count) })
    }

    /// The honest answer with changes.
    ///
    /// - Parameters:
    ///   - media: another version than the usual one.
    ///   - change: makes them.
    /// - Returns: the reply.
    func but(of media: Media? = nil, _ change: (inout Answer) -> Void) -> Reply {
        .answer(honest(media).with(change))
    }

    /// The honest answer as if the request had no range.
    ///
    /// - Parameter media: another version than the usual one.
    /// - Returns: 200 with everything.
    func whole(_ media: Media? = nil) -> Answer { without("Range").honest(media) }

    /// 200 with the whole lecture for any request, without `Accept-Ranges`.
    var plainWhole: Answer { whole().with { $0.set("Accept-Ranges", nil) } }

    /// The visit as if the request did not have a field.
    ///
    /// - Parameter name: of the field, in any case.
    /// - Returns: the changed visit.
    func without(_ name: String) -> Visit {
        var asked = asked
        asked.fields.removeAll { $0.name.lowercased() == name.lowercased() }
        return Visit(
            asked: asked, number: number, connection: connection, edge: edge, media: media, bases: bases,
            counts: counts)
    }
}

extension Answer {
    /// The same answer in chunks of 64 KiB (RFC 9112 section 7.1), as bytes, so that it can be cut anywhere.
    ///
    /// - Parameters:
    ///   - extensions: behind each size, with its semicolon.
    ///   - trailers: lines behind the last chunk, with their ends.
    /// - Returns: the head, the chunks, the end.
    func inChunks(extensions: String = "", trailers: String = "") -> [UInt8] {
        let head = with { $0.framing = .chunked }.head
        var bytes = Array(head.utf8)
        var position = 0
        while position < body.count {
            let piece = body.piece(position..<min(body.count, position + Self.chunkBytes))
            bytes += Array("\(String(piece.count, radix: 16))\(extensions)\r\n".utf8) + piece + [13, 10]
            position += piece.count
        }
        return bytes + Array("0\r\n\(trailers)\r\n".utf8)
    }

    /// The first bytes of the answer in chunks.
    ///
    /// - Parameters:
    ///   - chunks: whole ones.
    ///   - more: bytes of the next one; its size line has seven, the line's end included.
    /// - Returns: what is sent before the cut.
    func inChunks(_ chunks: Int, and more: Int) -> [UInt8] {
        let head = with { $0.framing = .chunked }.head.utf8.count
        return Array(inChunks().prefix(head + chunks * (Self.chunkBytes + 9) + more))
    }

    private static let chunkBytes = 1 << 16
}
