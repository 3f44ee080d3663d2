import LectureDownload
public import LectureModel
import LectureStore

/// What a request would do, found out without doing it.
public struct PlannedDownload: Sendable, Hashable {
    /// What there is.
    public enum Kind: String, Sendable, CaseIterable {
        /// It is not in the store.
        case new
        /// A part of it is in the store.
        case unfinished
        /// It is complete, and something else is requested.
        case changed
        /// It was complete, and its file is missing or damaged.
        case damaged
        /// It is complete. Whether it is what is requested only its source, or reading the file, can say.
        case unchecked
        /// It is complete and is what is requested.
        case complete
    }

    /// The request.
    public let request: DownloadRequest
    /// What there is.
    public let kind: Kind
    /// Bytes that would be downloaded; nil where nobody has said how long the file is.
    public let bytes: Int64?
    /// The lecture's title, from the request or from the store.
    public let title: String?
    /// The lecture in the store; nil for a new one.
    public var key: ContentKey?
}

/// When downloads of a given size would be done.
public struct FinishEstimate: Sendable, Hashable {
    /// The speed that is counted on, in bytes a second.
    public let bytesPerSecond: Double
    /// When the last byte would be there.
    public let end: Timestamp

    /// Counts from now on, minute by minute, as the timetable allows.
    ///
    /// - Parameters:
    ///   - bytes: what is to be downloaded.
    ///   - speed: bytes a second without any bound.
    ///   - rateLimit: the bound of all downloads together; nil for none.
    ///   - timetable: when downloads may run, and how fast; nil for always.
    ///   - now: the wall clock.
    ///   - minuteOfWeek: the local minute since Monday 0:00 at a time.
    init?(
        bytes: Int64, speed: Double, rateLimit: Int?, timetable: Timetable?, now: Timestamp,
        minuteOfWeek: (Timestamp) -> Int
    ) {
        let bound = min(speed, rateLimit.map { Double($0) } ?? speed)
        guard bound > 0 else { return nil }
        bytesPerSecond = bound
        guard let timetable else {
            end = now + .seconds(Double(bytes) / bound)
            return
        }
        var (left, time) = (Double(bytes), now)
        let latest = now + .seconds(366 * 86_400)
        while time < latest {
            let minute = minuteOfWeek(time)
            let rate: Double =
                switch timetable.rate(atMinuteOfWeek: minute) {
                case .full: bound
                case .off: 0
                case .limited(let bytes): min(bound, Double(bytes))
                }
            // Until the timetable says something else; the minute that has begun counts in part.
            let minutes = timetable.nextChange(after: minute) ?? Timetable.minutesOfWeek
            let begun = time.milliseconds % 60_000
            let window = Double(minutes) * 60 - Double(begun) / 1000
            if rate * window >= left, rate > 0 {
                end = time + .seconds(left / rate)
                return
            }
            left -= rate * window
            time = time + .seconds(window)
        }
        return nil
    }
}

extension LectureManager {
    /// What requests would do, without doing it: nothing is stored and nothing is downloaded.
    ///
    /// - Parameters:
    ///   - requests: the requests.
    ///   - check: how far complete lectures are compared; with `head` the sources of those that need it are asked, and
    ///     those of new ones for their length.
    /// - Returns: for each request, in order, what it would do, or why it would be refused.
    /// - Throws: ``LectureError`` when the store cannot be read; `CancellationError` when the task is cancelled, which
    ///   also ends the request that is under way.
    public func plan(
        _ requests: [DownloadRequest], check: SourceCheck = .list
    ) async throws -> [Result<PlannedDownload, LectureError>] {
        var results: [Result<PlannedDownload, LectureError>] = []
        for request in requests {
            try Task.checkCancellation()
            do {
                var planned = try plan(request, check: check)
                if check == .head { planned = try await asking(planned) }
                results.append(.success(planned))
            } catch let error as LectureError where error.code.isRefusedInput {
                results.append(.failure(error))
            }
        }
        return results
    }

    private func plan(_ request: DownloadRequest, check: SourceCheck) throws -> PlannedDownload {
        let request = try prepared(request)
        let source = try source(of: request)
        guard let known = try writer.find(request, source) else {
            return PlannedDownload(request: request, kind: .new, bytes: request.size, title: request.title)
        }
        let title = request.title ?? known.content.title
        func planned(_ kind: PlannedDownload.Kind, _ bytes: Int64?) -> PlannedDownload {
            PlannedDownload(request: request, kind: kind, bytes: bytes, title: title, key: known.content.key)
        }
        guard let version = try index.completeVersion(known.id) else {
            return planned(.unfinished, known.content.totalBytes.map { max(0, $0 - known.content.provenBytes) })
        }
        let total = version.media.total.map { Int64(clamping: $0) }
        let match = version.match(
            request, source: (requested: source.identity, pending: source.identity), isGateway: source.isGateway,
            check: check == .head ? .list : check)
        switch match {
        case .other: return planned(.changed, request.size)
        case .digestUnknown, .sourceUnknown: return planned(.unchecked, nil)
        case .same:
            if try mediaFault(of: known) != nil { return planned(.damaged, total) }
            guard known.needsRepair else { return planned(check == .head ? .unchecked : .complete, 0) }
            return planned(.damaged, total.map { max(0, $0 - Int64(clamping: version.media.provenBytes)) })
        }
    }

    /// Asks the source what only it can say.
    private func asking(_ planned: PlannedDownload) async throws -> PlannedDownload {
        let request = planned.request
        guard planned.bytes == nil || planned.kind == .unchecked, request.sha256 == nil || planned.kind != .unchecked
        else { return planned }
        let probe = SourceProbe(room: try openRoom(), clock: clock, configuration: configuration)
        let answer: SourceProbe.Answer
        do {
            answer = try await probe.ask(request.url, headers: request.headers)
        } catch is LectureError {
            // What cannot be asked stays unknown; the run itself will say why.
            return planned
        }
        let (length, plan): (Int64?, BodyPlan?)
        switch answer {
        case .media(let found): (length, plan) = (found.total.map { Int64(clamping: $0) }, found)
        case .descriptor(let document):
            let size = (try? ContentDescriptor(document))?.mediaSize
            (length, plan) = (size.map { Int64(clamping: $0) }, nil)
        case .unchanged: (length, plan) = (nil, nil)
        }
        guard planned.kind == .unchecked, let plan else {
            return PlannedDownload(
                request: request, kind: planned.kind, bytes: length, title: planned.title, key: planned.key)
        }
        let source = try source(of: request)
        guard let known = try writer.find(request, source), let version = try index.completeVersion(known.id) else {
            return planned
        }
        let isSame =
            SourceChecks.compare(
                plan, with: version.media, isOwnSource: source.identity == version.sourceIdentity) == .same
        return PlannedDownload(
            request: request, kind: isSame ? .complete : .changed, bytes: isSame ? 0 : length, title: planned.title,
            key: planned.key)
    }

    /// When downloads would be done, by the speed of those of the last thirty days and the configured limits.
    ///
    /// - Parameter bytes: what is to be downloaded.
    /// - Returns: nil where too little was downloaded to know a speed, or where the timetable never allows it.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func finishEstimate(bytes: Int64) throws -> FinishEstimate? {
        let now = clock.now()
        let past = try writer.throughput(since: now + .seconds(-30 * 86_400))
        let seconds = past.busy.secondsDouble
        guard past.bytes >= Self.leastKnown, seconds > 0.05 else { return nil }
        let settings = try configuration.downloadSettings()
        return FinishEstimate(
            bytes: bytes, speed: Double(past.bytes) / seconds, rateLimit: settings.rateLimit,
            timetable: settings.timetable, now: now, minuteOfWeek: clock.minuteOfWeek)
    }

    /// A speed that is known from less than this many bytes says nothing.
    private static let leastKnown: Int64 = 256 << 10
}

extension ContentDescriptor {
    /// The length of the media, where the gateway says it.
    fileprivate var mediaSize: UInt64? {
        guard case .file(let file) = media else { return nil }
        return file.size
    }
}
