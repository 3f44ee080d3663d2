import Dispatch
import LectureDownload
import LectureFormats
import LectureModel

/// Answers requests for what is at hand, and passes the others on.
///
/// Each answer is given on a thread of its own, which may block for the disk, as HTTP would give it: a whole file or
/// the rest of it from a place on (RFC 9110 section 14). Bounds of the rate are for the network.
///
/// Nothing asks ``TransferSink/canAccept``: it is for consumers that must not slow down other exchanges, and here each
/// one waits for its own.
struct NearbyTransport: Transport {
    /// What a file that cannot be read looks like: libcurl's CURLE_FILE_COULDNT_READ_FILE, which is not tried again.
    static let unreadable = 37

    let bytes: any NearbyBytes
    let base: any Transport
    let clock: any LectureClock
    private let cancelled = Guarded<Set<TransferID>>([])
    private let running = Guarded<Set<TransferID>>([])
    private let queue = DispatchQueue(label: "lecturekit.nearby", qos: .utility, attributes: .concurrent)

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - bytes: what is at hand.
    ///   - base: performs the other exchanges.
    ///   - clock: stamps heads.
    init(_ bytes: any NearbyBytes, over base: any Transport, clock: any LectureClock) {
        (self.bytes, self.base, self.clock) = (bytes, base, clock)
    }

    func start(_ request: TransferRequest) {
        // A body is for a server that decides something.
        guard request.body == nil, let answer = bytes.answer(to: request.url) else { return base.start(request) }
        running.withLock { _ = $0.insert(request.id) }
        queue.async { perform(request, answer) }
    }

    func cancel(_ id: TransferID) {
        let isOurs = running.withLock { $0.contains(id) }
        if isOurs { cancelled.withLock { _ = $0.insert(id) } } else { base.cancel(id) }
    }

    func limitRate(_ bytesPerSecond: Int?) { base.limitRate(bytesPerSecond) }

    private func perform(_ request: TransferRequest, _ answer: NearbyAnswer) {
        let began = clock.boot()
        var count: Int64 = 0
        let end: TransferOutcome.End
        switch answer {
        case .missing:
            let head = ResponseHead(status: 404, fields: ["Content-Length": "0"], receivedAt: clock.now())
            end = request.sink.headReceived(head) ? .complete : .stopped
        case .file(let file): end = send(file, request, mediaType: file.mediaType, &count)
        case .description(let file): end = send(file, request, mediaType: ContentDescriptor.mediaType, &count)
        }
        _ = running.withLock { $0.remove(request.id) }
        _ = cancelled.withLock { $0.remove(request.id) }
        request.sink.transferEnded(TransferOutcome(end: end, bodyBytes: count, elapsed: clock.boot() - began))
    }

    private func send(
        _ file: NearbyFile, _ request: TransferRequest, mediaType: String?, _ count: inout Int64
    ) -> TransferOutcome.End {
        let plan = NearbyPlan(file, request.range)
        guard request.sink.headReceived(plan.head(of: file, mediaType: mediaType, at: clock.now())) else {
            return .stopped
        }
        guard !plan.range.isEmpty else { return .complete }
        var left = plan.range.upperBound - plan.range.lowerBound
        var stop: TransferOutcome.End?
        do throws(LectureError) {
            try unsafe file.read(plan.range.lowerBound) { bytes in
                var piece = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: left)))
                while piece.count > 0 {
                    if cancelled.withLock({ $0.contains(request.id) }) {
                        stop = .cancelled
                        return false
                    }
                    let part = unsafe UnsafeRawBufferPointer(rebasing: piece.prefix(Self.pieceBytes))
                    guard unsafe request.sink.bodyReceived(part) else {
                        stop = .stopped
                        return false
                    }
                    count += Int64(part.count)
                    left -= UInt64(part.count)
                    unsafe piece = UnsafeRawBufferPointer(rebasing: piece.dropFirst(part.count))
                }
                return left > 0
            }
        } catch {
            let detail = error.cause.isEmpty ? error.code.summary : error.cause
            return .failed(curl: Self.unreadable, detail: detail)
        }
        if let stop { return stop }
        return left == 0 ? .complete : .failed(curl: Self.unreadable, detail: "the bytes end early")
    }

    /// A sink gets at most so many bytes at once.
    private static let pieceBytes = 16_384
}

/// What of a file is sent, and under which head.
struct NearbyPlan: Equatable {
    /// 200, 206 or 416.
    let status: Int
    /// The bytes that are sent.
    let range: Range<UInt64>

    /// Plans an answer.
    ///
    /// - Parameters:
    ///   - file: what is asked for.
    ///   - asked: the range that is asked for; nil for the whole. A condition (`If-Range`) always holds: what is at
    ///     hand does not change.
    init(_ file: NearbyFile, _ asked: RangeRequest?) {
        guard let asked else {
            (status, range) = (200, 0..<file.count)
            return
        }
        guard asked.first < file.count else {
            (status, range) = (416, 0..<0)
            return
        }
        (status, range) = (206, asked.first..<min(asked.end ?? file.count, file.count))
    }

    func head(of file: NearbyFile, mediaType: String?, at time: Timestamp) -> ResponseHead {
        var fields: HeaderFields = ["Accept-Ranges": "bytes"]
        func add(_ name: String, _ value: String?) {
            if let value { fields.append(HeaderField(name: name, value: value)) }
        }
        add("Content-Length", "\(range.upperBound - range.lowerBound)")
        switch status {
        case 206: add("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.count)")
        case 416: add("Content-Range", "bytes */\(file.count)")
        default: break
        }
        if status != 416 {
            add("Content-Type", mediaType)
            add("ETag", file.entityTag)
            // Our own mark of a weak date is no part of it.
            add("Last-Modified", file.lastModified.map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 })
        }
        return ResponseHead(status: status, fields: fields, receivedAt: time)
    }
}
