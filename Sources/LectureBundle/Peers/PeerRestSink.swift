import LectureFormats
import LectureModel

/// Passes on the rest of a file that another store has broken off, if its own server answers with just that.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread.
final class PeerRestSink: TransferSink, @unchecked Sendable {
    private let missing: ByteRange
    private let total: UInt64
    private let sink: any TransferSink
    private let done: @Sendable (TransferOutcome) -> Void
    private var isOther = false
    private var count: Int64 = 0

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - missing: what was requested.
    ///   - total: the length of the file.
    ///   - sink: has got the head, and everything before.
    ///   - done: gets the end, with the bytes that the sink has got here.
    init(
        _ missing: ByteRange, total: UInt64, to sink: any TransferSink,
        done: @escaping @Sendable (TransferOutcome) -> Void
    ) {
        (self.missing, self.total, self.sink, self.done) = (missing, total, sink, done)
    }

    var canAccept: Bool { sink.canAccept }

    func headReceived(_ head: ResponseHead) -> Bool {
        let values = head.fields.values(of: "Content-Range")
        let isRest =
            head.status == 206 && values.count == 1 && head.fields["Content-Encoding"] == nil
            && (try? ContentRange(values[0])) == .part(missing, total: total)
        isOther = !isRest
        return isRest
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard UInt64(count) + UInt64(bytes.count) <= missing.count else {
            isOther = true
            return false
        }
        count += Int64(bytes.count)
        return unsafe sink.bodyReceived(bytes)
    }

    func transferEnded(_ outcome: TransferOutcome) {
        var outcome = outcome
        outcome.bodyBytes = count
        let isShort = outcome.end == .complete && UInt64(count) < missing.count
        if isOther || isShort {
            outcome.end = .failed(curl: PeerPatience.partial, detail: "a branch server has stopped sending")
        }
        done(outcome)
    }
}
