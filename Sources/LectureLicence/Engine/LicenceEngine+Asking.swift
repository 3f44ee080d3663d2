import LectureEngine
import LectureModel

/// From waiting items to running requests.
extension LicenceEngine {
    /// Puts what was requested since the last step into its queues.
    func enqueueRequests(_ turn: inout Turn) throws {
        let requests = work.requests
        work.requests = []
        for asked in requests where !isAskedAlready(asked) {
            guard let entry = try ledger.entry(asked.key), !entry.source.callbackURL.isEmpty else {
                try finish(asked, LectureError(.licenceMissing), &turn)
                continue
            }
            try enqueue(asked, entry, &turn)
        }
    }

    /// Two equal requests of a download get one answer.
    private func isAskedAlready(_ asked: Asked) -> Bool {
        let waiting = work.queues.lazy.filter { $0.key.rank == asked.purpose.rank }.flatMap(\.value)
        let running = work.exchanges.values.lazy.flatMap(\.items)
        return waiting.contains { $0.isSame(asked) } || running.contains { $0.isSame(asked) }
    }

    /// Puts an item into its queue; one with an unusable URL fails.
    func enqueue(_ asked: Asked, _ entry: LicenceEntry, first: Bool = false, _ turn: inout Turn) throws {
        do throws(LectureError) {
            _ = try Origin(url: entry.source.callbackURL)
        } catch {
            return try finish(asked, error, &turn)
        }
        var queue = BatchQueue(
            rank: asked.purpose.rank, url: entry.source.callbackURL, keyID: entry.source.keyID, run: nil)
        queue.run = asked.purpose.run
        if first {
            work.queues[queue, default: []].insert(asked, at: 0)
        } else {
            work.queues[queue, default: []].append(asked)
        }
    }

    /// Starts as many requests as the pace allows, the most urgent queues first.
    func startRequests(_ turn: inout Turn) throws {
        for queue in work.queues.keys.sorted() {
            let origin = try Origin(url: queue.url)
            try expireChecks(queue, &turn)
            while let waiting = work.queues[queue], !waiting.isEmpty {
                if try abandon(queue, origin, &turn) { break }
                let admission = pace.mayStart(origin, at: turn.boot)
                guard admission == .yes else {
                    try wait(queue, origin, admission, &turn)
                    break
                }
                try start(queue, origin, &turn)
            }
            if work.queues[queue]?.isEmpty == true { work.queues[queue] = nil }
        }
    }

    /// Expires interactive checks past their deadline.
    private func expireChecks(_ queue: BatchQueue, _ turn: inout Turn) throws {
        for asked in work.queues[queue] ?? [] {
            guard case .check(let deadline) = asked.purpose else { return }
            guard deadline <= turn.boot else {
                wake(at: deadline)
                continue
            }
            work.queues[queue]?.removeAll { $0.isSame(asked) }
            notices.append(.checked(asked.key, .unreachable(LectureError(.callbackTransfer(28)))))
        }
    }

    /// A run does not wait for a server whose breaker has opened repeatedly: its items fail in this run.
    private func abandon(_ queue: BatchQueue, _ origin: Origin, _ turn: inout Turn) throws -> Bool {
        guard queue.run != nil, pace.openings(origin) >= settings.openings else { return false }
        let error = faults[origin] ?? LectureError(.callbackTransfer(7))
        for asked in work.queues.removeValue(forKey: queue) ?? [] { try finish(asked, error, &turn) }
        return true
    }

    private func wait(_ queue: BatchQueue, _ origin: Origin, _ admission: CallbackPace.Admission, _ turn: inout Turn)
        throws
    {
        switch admission {
        case .yes, .busy: return
        case .notBefore(let moment): return wake(at: moment)
        case .held(let until), .open(let until):
            let isHeld = admission == .held(until: until)
            let error = isHeld ? LectureError(.serverWait) : faults[origin] ?? LectureError(.callbackTransfer(7))
            let isTooLong = until - turn.boot > settings.longestWait
            if queue.run != nil, !isTooLong { return wake(at: until) }
            // No other purpose waits: neither a person, nor a download that has others to fetch, nor a stored callback.
            for asked in work.queues.removeValue(forKey: queue) ?? [] {
                try postpone(asked, error, by: until - turn.boot, turn)
            }
        }
    }

    /// Starts one request.
    private func start(_ queue: BatchQueue, _ origin: Origin, _ turn: inout Turn) throws {
        var exchange = CallbackExchange(
            id: ports.numbers.next(), queue: queue, origin: origin, items: [], questions: [], started: turn.boot,
            asked: turn.now)
        for asked in takeGroup(queue, origin) {
            guard let entry = try ledger.entry(asked.key), asked.purpose.rank == 1 || entry.record != nil else {
                try finish(asked, LectureError(.licenceMissing), &turn)
                continue
            }
            if case .regrant = asked.purpose, try !asksAnew(asked, entry, &turn) { continue }
            exchange.items.append(asked)
            exchange.questions.append(question(asked, entry, turn))
        }
        guard let first = exchange.items.first else { return }
        pace.started(origin, at: turn.boot)
        var request = ExchangeRequest(id: exchange.id, url: queue.url, bodyLimit: CallbackReading.bodyLimit)
        request.body = CallbackQuestion.form(exchange.questions, extra: settings.extra)
        request.stallTimeout = settings.stallTimeout
        request.totalTimeout = settings.totalTimeout
        if case .check(let deadline) = first.purpose {
            request.totalTimeout = min(settings.totalTimeout, deadline - turn.boot)
        }
        work.exchanges[exchange.id] = exchange
        effects.append(.exchange(.send(request)))
    }

    /// Whether a new grant is requested. Not if the licence is trusted by now: its use is known, and a grant would
    /// reset it. Not if this device cannot open the media: a grant would be of no use.
    private func asksAnew(_ asked: Asked, _ entry: LicenceEntry, _ turn: inout Turn) throws -> Bool {
        if entry.suspicion == nil {
            try finish(asked, nil, &turn)
            return false
        }
        guard try ports.contents.content(asked.key)?.isSealedElsewhere == true else { return true }
        try finish(asked, LectureError(.sealedElsewhere, detail: asked.key.text), &turn)
        return false
    }

    /// The next items of a queue that share a request.
    private func takeGroup(_ queue: BatchQueue, _ origin: Origin) -> [Asked] {
        guard var waiting = work.queues[queue], let first = waiting.first else { return [] }
        var size = 1
        if !first.isSingle, queue.rank > 0, !singles.contains(origin) {
            size = min(settings.groupSize, waiting.prefix { !$0.isSingle }.count)
        }
        let group = Array(waiting.prefix(size))
        waiting.removeFirst(size)
        work.queues[queue] = waiting
        return group
    }

    private func question(_ asked: Asked, _ entry: LicenceEntry, _ turn: Turn) -> CallbackQuestion {
        var question = CallbackQuestion(
            asked.purpose.kind, mediaContentKey: asked.key.text, clientUserID: entry.source.clientUserID,
            playerID: settings.playerID, deviceName: settings.deviceName, localTime: turn.now)
        question.userValues = entry.source.userValues
        guard asked.purpose.kind == .check, let record = entry.record else { return question }
        let known = turn.time.time.noEarlierThan
        question.sessionKey = sessionKey()
        question.expiresAt = record.policy.expiresAt
        question.isExpired =
            record.isForceExpired || record.wasSeenExpired
            || Self.hasPassed(record.policy.expiresAt, known)
        question.isCheckDue = Self.hasPassed(record.policy.checkAt, known)
        if case .renewal = asked.purpose { question.isRenewal = true }
        return question
    }

    private static func hasPassed(_ end: Timestamp?, _ now: Timestamp?) -> Bool {
        guard let end, let now else { return false }
        return now >= end
    }

    /// 128 random bits in hexadecimal digits. Kept in memory only, and never shown.
    private func sessionKey() -> String {
        let numbers = [ports.random.next(), ports.random.next()]
        return Hexadecimal.text(
            numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } })
    }
}

extension Asked {
    /// Whether it needs a request of its own.
    var isSingle: Bool { isAlone || isIsolated }

    /// Whether it is the same request for the same purpose.
    func isSame(_ other: Asked) -> Bool {
        guard key == other.key else { return false }
        return switch (purpose, other.purpose) {
        case (.check, .check), (.grant, .grant): true
        case (.renewal(let one), .renewal(let two)), (.regrant(let one), .regrant(let two)): one == two
        case (.pendingCallback(let one), .pendingCallback(let two)): one.id == two.id
        case (.check, _), (.grant, _), (.renewal, _), (.regrant, _), (.pendingCallback, _): false
        }
    }
}
