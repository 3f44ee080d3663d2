import LectureBundle
import LectureHTTP
import LectureKit
import LectureModel

/// The bytes of a sealed file on their way to the server's thread: each segment is read, compared with its proof and
/// sealed when it is its turn. Two are in memory. Sealing a segment again gives the same bytes, since the version that
/// was offered never changes.
final class SealedAnswer: HTTPBodySource {
    private struct State {
        var pieces: [ArraySlice<UInt8>] = []
        /// The first byte of the sealed file that was not read.
        var next: Int
        var reading: Task<Void, Never>?
        var hasFailed = false
    }

    private static let mostPieces = 2

    private let open: OfferedFile
    private let end: Int
    private let manager: LectureManager
    private let exchange: HTTPExchange
    private let state: Guarded<State>

    /// Creates an answer, which reads nothing before it is asked.
    ///
    /// - Parameters:
    ///   - open: what was offered.
    ///   - range: which bytes of the sealed file.
    ///   - manager: the store.
    ///   - exchange: the request.
    init(_ open: OfferedFile, _ range: Range<Int64>, _ manager: LectureManager, _ exchange: HTTPExchange) {
        (self.open, self.manager, self.exchange) = (open, manager, exchange)
        end = Int(range.upperBound)
        state = Guarded(State(next: Int(range.lowerBound)))
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        state.withLock { state in
            guard !state.hasFailed else { return .failed }
            guard let piece = state.pieces.first else {
                if state.reading == nil { request(&state) }
                return state.next >= end && state.reading == nil ? .end : .wait
            }
            let count = min(buffer.count, piece.count)
            unsafe piece.prefix(count).withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
            state.pieces[0] = piece.dropFirst(count)
            if state.pieces[0].isEmpty { state.pieces.removeFirst() }
            if state.reading == nil { request(&state) }
            return .bytes(count)
        }
    }

    func over() {
        state.withLock { state in
            state.hasFailed = true
            state.pieces = []
            state.reading?.cancel()
        }
    }

    /// Reads the next segment, if there is one and it may be in memory.
    private func request(_ state: inout State) {
        guard state.next < end, state.pieces.count < Self.mostPieces, !state.hasFailed else { return }
        let segment = state.next / SealedFormat.segmentBytes
        let place = PeerWindow.place(of: segment, open.layout)
        let wanted = state.next..<min(end, place.upperBound)
        state.next = wanted.upperBound
        state.reading = Task { await read(segment, place, wanted) }
    }

    private func read(_ segment: Int, _ place: Range<Int>, _ wanted: Range<Int>) async {
        do {
            let plain = Guarded<[UInt8]>([])
            let range = open.layout.plaintextRange(ofSegment: segment)
            try await manager.contents.read(
                open.file, of: open.key, range: Int64(range.lowerBound)..<Int64(range.upperBound)
            ) { bytes in
                plain.withLock { $0 += bytes }
            }
            let sealed = try seal(plain.withLock(\.self), segment, range.count)
            received(sealed[(wanted.lowerBound - place.lowerBound)..<(wanted.upperBound - place.lowerBound)])
        } catch {
            // The client finds out that bytes are missing, and fetches them elsewhere.
            state.withLock { state in
                state.hasFailed = true
                state.reading = nil
            }
            exchange.disconnect()
        }
    }

    private func seal(_ plain: [UInt8], _ segment: Int, _ count: Int) throws(LectureError) -> [UInt8] {
        guard plain.count == count else { throw LectureError(.damaged, detail: open.key.text) }
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
        state.withLock { state in
            state.reading = nil
            guard !state.hasFailed else { return }
            state.pieces.append(bytes)
            request(&state)
        }
        exchange.resume()
    }
}
