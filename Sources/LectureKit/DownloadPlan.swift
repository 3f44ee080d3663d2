import LectureDownload
import LectureFormats
public import LectureModel
import LectureStore

/// What a request would do, determined without doing it.
public struct PlannedDownload: Sendable, Hashable {
    /// The state of the lecture.
    public enum Kind: String, Sendable, CaseIterable {
        /// It is not in the store.
        case new
        /// A part of it is in the store.
        case unfinished
        /// It is complete, but something else is requested.
        case changed
        /// It was complete, and its file is missing or damaged.
        case damaged
        /// It is complete. Only its source, or reading the file, can show whether it is what is requested.
        case unchecked
        /// It is complete and is what is requested.
        case complete
    }

    /// The request.
    public let request: DownloadRequest
    /// The state of the lecture.
    public fileprivate(set) var kind: Kind
    /// Bytes that would be downloaded; nil where the file's length is unknown.
    public fileprivate(set) var bytes: Int64?
    /// The lecture's title, from the request or from the store.
    public let title: String?
    /// The lecture in the store; nil for a new one.
    public var key: ContentKey?
    /// The lecture in the store, or the key that a new one would get.
    public fileprivate(set) var identity: ContentKey
    /// Whether only the gateway can say which lecture it is, and has not.
    public fileprivate(set) var isUnanswered: Bool
}

/// When downloads of a given size would be done.
public struct FinishEstimate: Sendable, Hashable {
    /// The assumed speed, in bytes a second.
    public let bytesPerSecond: Double
    /// When the last byte would arrive.
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
            // Until the timetable changes; the current minute counts in part.
            let minutes = timetable.nextChange(after: minute) ?? Timetable.minutesOfWeek
            let started = time.milliseconds % 60_000
            let window = Double(minutes) * 60 - Double(started) / 1000
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

/// Determines what requests would do. An actor on the core queue.
actor DownloadPlanner: CorePart {
    nonisolated let core: StoreCore
    private let comparer: SourceComparer

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore, _ comparer: SourceComparer) { (self.core, self.comparer) = (core, comparer) }

    /// As ``LectureManager/Downloads/plan(_:check:)``.
    func plan(
        _ requests: [DownloadRequest], check: SourceCheck
    ) async throws -> [Result<PlannedDownload, LectureError>] {
        var results: [Result<PlannedDownload, LectureError>] = []
        for request in requests {
            try Task.checkCancellation()
            do {
                let request = try prepared(request)
                let source = try source(of: request)
                try checkOutput(of: request, source)
                let known = try writer.requests.find(request, source)
                results.append(.success(try planned(request, source, known, check: check)))
            } catch let error as LectureError where error.code.isRefusedInput {
                results.append(.failure(error))
            }
        }
        guard check == .head else { return results }
        for (place, planned) in try await askSources(results) { results[place] = .success(planned) }
        return results
    }

    /// What the store shows about a request.
    private func planned(
        _ request: DownloadRequest, _ source: RequestSource, _ known: ItemRecord?, check: SourceCheck
    ) throws -> PlannedDownload {
        guard let known else {
            return PlannedDownload(
                request: request, kind: .new, bytes: request.size, title: request.title,
                identity: request.key ?? source.derivedKey, isUnanswered: source.isGateway)
        }
        let title = request.title ?? known.content.title
        func outcome(_ kind: PlannedDownload.Kind, _ bytes: Int64?) -> PlannedDownload {
            PlannedDownload(
                request: request, kind: kind, bytes: bytes, title: title, key: known.content.key,
                identity: known.content.key, isUnanswered: known.isGateway && !known.isLoaded)
        }
        guard let version = try index.versions.completeVersion(known.id) else {
            return outcome(.unfinished, known.content.totalBytes.map { max(0, $0 - known.content.committedBytes) })
        }
        let total = version.media.total.map { Int64(clamping: $0) }
        let match = version.match(
            request, source: (requested: source.identity, pending: source.identity), isGateway: source.isGateway,
            check: check == .head ? .list : check)
        switch match {
        case .other: return outcome(.changed, request.size)
        case .sourceUnknown where known.content.sourceURL.isEmpty && known.needsRepair:
            return outcome(.changed, request.size)
        case .digestUnknown, .sourceUnknown: return outcome(.unchecked, nil)
        case .same:
            if try mediaFault(of: known) != nil { return outcome(.damaged, total) }
            guard known.needsRepair else { return outcome(check == .head ? .unchecked : .complete, 0) }
            return outcome(.damaged, total.map { max(0, $0 - Int64(clamping: version.media.committedBytes)) })
        }
    }

    /// Asks the sources of the plans that need it, a few at once.
    private func askSources(
        _ plans: [Result<PlannedDownload, LectureError>]
    ) async throws -> [Int: PlannedDownload] {
        var open = plans.enumerated().compactMap { place, plan in
            (try? plan.get()).flatMap { $0.needsAnswer ? (place: place, planned: $0) : nil }
        }[...]
        guard !open.isEmpty else { return [:] }
        _ = try openService()
        return try await withThrowingTaskGroup(of: (Int, PlannedDownload).self) { group in
            var answers: [Int: PlannedDownload] = [:]
            func addNext() {
                guard let next = open.popFirst() else { return }
                group.addTask { (next.place, try await self.asking(next.planned)) }
            }
            for _ in 0..<SourceChecks.limit { addNext() }
            while let (place, planned) = try await group.next() {
                answers[place] = planned
                addNext()
            }
            return answers
        }
    }

    /// Asks the source once for what only it knows.
    private func asking(_ planned: PlannedDownload) async throws -> PlannedDownload {
        do {
            let source = try source(of: planned.request)
            var known = try planned.key.flatMap { try index.contents.item($0) }
            var version =
                try planned.kind == .unchecked ? known.flatMap { try index.versions.completeVersion($0.id) } : nil
            let answer = try await comparer.answer(of: planned.request, source, unlessChangedSince: version)
            var planned = planned
            if planned.kind == .new {
                let key = try answer.lectureKey
                (planned.identity, planned.isUnanswered) = (key ?? planned.identity, false)
                if let key, let item = try index.contents.item(key) {
                    // The gateway describes a lecture in the store; the link was new because its token is.
                    known = item
                    planned = try self.planned(planned.request, source, item, check: .head)
                    version = try planned.needsAnswer ? index.versions.completeVersion(item.id) : nil
                }
            }
            guard planned.needsAnswer else { return planned }
            guard planned.kind == .unchecked, let known, let version else {
                planned.bytes = try answer.length
                return planned
            }
            let check = CheckRequest(
                content: known.id, key: known.content.key, request: planned.request, source: source)
            switch try await comparer.verdict(check, version, answer) {
            case .same: (planned.kind, planned.bytes) = (.complete, 0)
            case .other: (planned.kind, planned.bytes) = (.changed, try answer.length)
            }
            return planned
        } catch is LectureError {
            // What cannot be asked stays unknown; the run itself will report why.
            return planned
        }
    }

    /// As ``LectureManager/Downloads/finishEstimate(bytes:)``.
    func finishEstimate(bytes: Int64) throws -> FinishEstimate? {
        let now = clock.now()
        let past = try writer.servers.throughput(since: now + .seconds(-30 * 86_400))
        let seconds = past.busy.secondsDouble
        guard past.bytes >= Self.leastKnown, seconds > 0.05 else { return nil }
        let settings = try configuration.downloadSettings()
        return FinishEstimate(
            bytes: bytes, speed: Double(past.bytes) / seconds, rateLimit: settings.rateLimit,
            timetable: settings.timetable, now: now, minuteOfWeek: clock.minuteOfWeek)
    }

    /// A speed measured over fewer bytes than this is meaningless.
    private static let leastKnown: Int64 = 256 << 10
}

extension PlannedDownload {
    /// Whether its source can add something. Only reading the file shows whether it has a requested digest.
    fileprivate var needsAnswer: Bool {
        kind == .unchecked ? request.sha256 == nil : bytes == nil || kind == .new && isUnanswered
    }
}

extension SourceProbe.Answer {
    /// The lecture that a gateway describes; nil for media, and where the description names none.
    fileprivate var lectureKey: ContentKey? {
        get throws {
            guard case .descriptor(let document) = self else { return nil }
            return try ContentDescriptor(document).facts.key
        }
    }

    /// The length that it announces; nil where it announces none.
    fileprivate var length: Int64? {
        get throws {
            switch self {
            // The length of a playlist is not that of its segments.
            case .media(let plan): return plan.isPlaylist ? nil : plan.total.map { Int64(clamping: $0) }
            case .descriptor(let document):
                guard case .file(let file) = try ContentDescriptor(document).media else { return nil }
                return file.size.map { Int64(clamping: $0) }
            case .unchanged: return nil
            }
        }
    }
}
