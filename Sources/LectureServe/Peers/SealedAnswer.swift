import LectureBundle
import LectureHTTP
import LectureKit
import LectureModel

/// The bytes of a sealed file on their way to the server's thread: each segment is read, compared with its proof and
/// sealed when it is its turn. Two are in memory, and what was read of a chunk beyond the last of them: no chunk is
/// read twice. Sealing a segment again gives the same bytes, since the version that was offered never changes.
final class SealedAnswer: HTTPBodySource {
    private static let mostPieces = 2

    private let open: OfferedFile
    private let manager: LectureManager
    private let exchange: HTTPExchange
    private let ahead: Guarded<ReadAhead>
    private let chunks = Guarded(ReadChunks())

    /// Creates an answer, which reads nothing before it is asked.
    ///
    /// - Parameters:
    ///   - open: what was offered.
    ///   - range: which bytes of the sealed file.
    ///   - manager: the store.
    ///   - exchange: the request.
    init(_ open: OfferedFile, _ range: Range<Int64>, _ manager: LectureManager, _ exchange: HTTPExchange) {
        (self.open, self.manager, self.exchange) = (open, manager, exchange)
        ahead = Guarded(ReadAhead(range, most: Self.mostPieces))
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        ahead.withLock { ahead in
            let filled = unsafe ahead.fill(buffer)
            request(&ahead)
            return filled
        }
    }

    func over() { ahead.withLock { $0.stop() } }

    /// Reads the next segment, if there is one and it may be in memory.
    private func request(_ ahead: inout ReadAhead) {
        let layout = open.layout
        func place(_ offset: Int64) -> (segment: Int, range: Range<Int>) {
            let segment = Int(offset) / SealedFormat.segmentBytes
            return (segment, PeerWindow.place(of: segment, layout))
        }
        func begin(_ wanted: Range<Int64>) -> Task<Void, Never> {
            let (segment, place) = place(wanted.lowerBound)
            return Task { await read(segment, place, Int(wanted.lowerBound)..<Int(wanted.upperBound)) }
        }
        ahead.advance(to: { Int64(place($0).range.upperBound) }, begin)
    }

    private func read(_ segment: Int, _ place: Range<Int>, _ wanted: Range<Int>) async {
        do {
            let range = open.layout.plaintextRange(ofSegment: segment)
            let sealed = try seal(try await plain(Int64(range.lowerBound)..<Int64(range.upperBound)), segment)
            received(sealed[(wanted.lowerBound - place.lowerBound)..<(wanted.upperBound - place.lowerBound)])
        } catch {
            // The client finds out that bytes are missing, and fetches them elsewhere.
            ahead.withLock { $0.stop() }
            exchange.disconnect()
        }
    }

    /// Bytes of the media. One call at a time, as ``ReadAhead`` reads one piece at a time.
    private func plain(_ wanted: Range<Int64>) async throws -> ArraySlice<UInt8> {
        if let missing = chunks.withLock({ $0.missing(of: wanted) { Int64(clamping: open.file.chunkEnd(at: $0)) } }) {
            let read = Guarded<[UInt8]>([])
            try await manager.contents.read(open.file, of: open.key, range: missing) { piece in
                read.withLock { $0 += piece }
            }
            chunks.withLock { $0.add(read.withLock(\.self), at: missing.lowerBound) }
        }
        guard let plain = chunks.withLock({ $0.take(wanted) }) else {
            throw LectureError(.damaged, detail: open.key.text)
        }
        return plain
    }

    private func seal(_ plain: ArraySlice<UInt8>, _ segment: Int) throws(LectureError) -> [UInt8] {
        let count = plain.count
        let lead = segment == 0 ? open.header : []
        var box = lead + [UInt8](repeating: 0, count: count + SealedFormat.tagBytes)
        let sealer = try open.cipher.sealer(header: open.header, sealedBefore: [])
        let failure: LectureError? = unsafe plain.withUnsafeBytes { text in
            unsafe box.withUnsafeMutableBytes { buffer in
                do throws(LectureError) {
                    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[lead.count...])
                    try unsafe sealer.seal(
                        segment: segment, isLast: segment == open.layout.lastSegment, text, into: target)
                    return nil
                } catch { return error }
            }
        }
        if let failure { throw failure }
        return box
    }

    private func received(_ bytes: ArraySlice<UInt8>) {
        ahead.withLock { ahead in
            ahead.received(bytes)
            request(&ahead)
        }
        exchange.resume()
    }
}
