import LectureFormats
import LectureModel

/// Receives the answer to a question: its status, and a short body.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread.
final class PeerAnswerSink: TransferSink, @unchecked Sendable {
    private var status: Int?
    private var bytes: [UInt8] = []
    private var isTooLong = false
    private let done: @Sendable (_ status: Int?, _ bytes: [UInt8], _ end: TransferOutcome.End) -> Void

    init(_ done: @escaping @Sendable (_ status: Int?, _ bytes: [UInt8], _ end: TransferOutcome.End) -> Void) {
        self.done = done
    }

    func headReceived(_ head: ResponseHead) -> Bool {
        status = head.status
        return true
    }

    func bodyReceived(_ part: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count + part.count <= PeerOffer.longest else {
            isTooLong = true
            return false
        }
        unsafe bytes.append(contentsOf: part)
        return true
    }

    func transferEnded(_ outcome: TransferOutcome) {
        done(status, isTooLong ? [] : bytes, isTooLong ? .stopped : outcome.end)
    }
}

/// Receives a head, and hardly any body: a server that sends the one byte that was requested keeps its connection.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread.
final class HeadOnlySink: TransferSink, @unchecked Sendable {
    private var head: ResponseHead?
    private let done: @Sendable (ResponseHead?) -> Void

    init(_ done: @escaping @Sendable (ResponseHead?) -> Void) { self.done = done }

    func headReceived(_ head: ResponseHead) -> Bool {
        self.head = head
        return head.status == 206
    }

    func bodyReceived(_ part: UnsafeRawBufferPointer) -> Bool { part.count <= 1 }

    func transferEnded(_ outcome: TransferOutcome) { done(head) }
}

/// Gets what windows contain.
protocol PeerReceiver: AnyObject, Sendable {
    /// Takes the plaintext of a segment. On the transport's thread.
    ///
    /// - Parameters:
    ///   - plain: the whole plaintext of the segment.
    ///   - place: where it begins in the media.
    /// - Returns: whether more is wanted.
    func take(_ plain: UnsafeRawBufferPointer, at place: UInt64) -> Bool
}

/// Receives a window of a sealed file, and opens each segment once it is whole. One segment is in memory.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread.
final class PeerWindowSink: TransferSink, @unchecked Sendable {
    /// How a window ended.
    enum End: Sendable, Hashable {
        /// Every segment was opened.
        case whole
        /// The receiver of the bytes wants no more.
        case stopped
        /// The store does not know the ticket.
        case unknown
        /// It has sent something else.
        ///
        /// - Parameter cause: what, without a full stop.
        case wrong(String)
        /// The exchange ended early.
        ///
        /// - Parameter cause: why, without a full stop.
        case broken(String)
    }

    private let window: PeerWindow
    private let open: OpenOffer
    private let receiver: any PeerReceiver
    private let done: @Sendable (End) -> Void
    private var segment: Int
    private var sealed: [UInt8] = []
    private var plain = [UInt8](repeating: 0, count: SealedFormat.plaintextBytes)
    private var end: End?

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - window: what was requested.
    ///   - open: the offer.
    ///   - receiver: gets the plaintext of each segment.
    ///   - done: gets the end, once, after everything else.
    init(
        _ window: PeerWindow, of open: OpenOffer, to receiver: any PeerReceiver,
        done: @escaping @Sendable (End) -> Void
    ) {
        (self.window, self.open, self.receiver, self.done) = (window, open, receiver, done)
        segment = window.segments.lowerBound
    }

    func headReceived(_ head: ResponseHead) -> Bool {
        guard head.status == 206 else {
            end = [404, 410].contains(head.status) ? .unknown : .wrong("it answers with status \(head.status)")
            return false
        }
        let values = head.fields.values(of: "Content-Range")
        guard values.count == 1, let named = try? ContentRange(values[0]),
            named == .part(window.range, total: UInt64(open.layout.ciphertextLength)),
            head.fields["Content-Encoding"] == nil
        else {
            end = .wrong("it answers with another range")
            return false
        }
        return true
    }

    func bodyReceived(_ part: UnsafeRawBufferPointer) -> Bool {
        var rest = unsafe part[...]
        while unsafe !rest.isEmpty {
            guard window.segments.contains(segment) else {
                end = .wrong("it sends more than was requested")
                return false
            }
            let due = PeerWindow.place(of: segment, open.layout).count
            let taken = unsafe rest.prefix(due - sealed.count)
            unsafe sealed.append(contentsOf: taken)
            unsafe rest = rest.dropFirst(taken.count)
            if sealed.count == due, !openSegment() { return false }
        }
        return true
    }

    /// Opens the segment that is whole.
    ///
    /// - Returns: whether more is wanted.
    private func openSegment() -> Bool {
        let lead = segment == 0 ? SealedFormat.headerBytes : 0
        guard lead == 0 || sealed.prefix(lead).elementsEqual(open.offer.header) else {
            end = .wrong("the header is not the one that it has offered")
            return false
        }
        let place = open.layout.plaintextRange(ofSegment: segment)
        let isLast = segment == open.layout.lastSegment
        let wantsMore: Bool? = unsafe plain.withUnsafeMutableBytes { buffer in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<place.count])
            return unsafe sealed.withUnsafeBytes { box in
                do throws(LectureError) {
                    let box = unsafe UnsafeRawBufferPointer(rebasing: box.dropFirst(lead))
                    try unsafe open.opener.open(segment: segment, isLast: isLast, box, into: target)
                    return unsafe receiver.take(UnsafeRawBufferPointer(target), at: UInt64(place.lowerBound))
                } catch { return nil }
            }
        }
        guard let wantsMore else {
            end = .wrong("what it sends was not sealed for this offer")
            return false
        }
        segment += 1
        sealed.removeAll(keepingCapacity: true)
        if !wantsMore { end = .stopped }
        return wantsMore
    }

    func transferEnded(_ outcome: TransferOutcome) {
        if let end { return done(end) }
        switch outcome.end {
        case .complete:
            done(segment == window.segments.upperBound ? .whole : .broken("it ends its answer early"))
        case .failed(_, let detail): done(.broken(detail))
        case .stopped, .cancelled: done(.stopped)
        }
    }
}
