import LectureEngine
import LectureFormats
import LectureModel

/// From waiting items to running requests.
extension LicenceMachine {
    /// Puts a request of the application into its queue, unless it waits or is running already.
    mutating func ask(_ asked: Asked, _ step: inout Step<Self>) throws {
        if isAskedAlready(asked) { return }
        guard let entry = try step.context.entry(asked.key), !entry.source.callbackURL.isEmpty else {
            return try finish(asked, LectureError(.licenceMissing), &step)
        }
        try enqueue(asked, entry, &step)
    }

    /// Two equal requests of a download get one answer.
    private func isAskedAlready(_ asked: Asked) -> Bool {
        queues.contains(asked) || exchanges.values.contains { $0.items.contains { $0.isSame(asked) } }
    }

    /// Puts an item into its queue; one with an unusable URL fails.
    mutating func enqueue(_ asked: Asked, _ entry: LicenceEntry, first: Bool = false, _ step: inout Step<Self>) throws {
        do throws(LectureError) {
            _ = try Origin(url: entry.source.callbackURL)
        } catch {
            return try finish(asked, error, &step)
        }
        let queue = BatchQueue(
            rank: asked.purpose.rank, url: entry.source.callbackURL, keyID: entry.source.keyID, run: asked.purpose.run)
        queues.add(asked, to: queue, first: first)
    }

    /// Starts as many requests as the pace allows, the most urgent queues first.
    mutating func startRequests(_ step: inout Step<Self>) throws {
        for queue in queues.inOrder {
            let origin = try Origin(url: queue.url)
            try expireChecks(queue, &step)
            while !queues[queue].isEmpty {
                if try abandon(queue, origin, &step) { break }
                pacer.respect(step.others, at: origin, boot: step.boot)
                let admission = pacer.admission(origin, at: step.boot, besides: step.others)
                guard admission == .yes else {
                    try wait(queue, origin, admission, &step)
                    break
                }
                try start(queue, origin, &step)
            }
        }
    }

    /// Expires interactive checks past their deadline.
    private mutating func expireChecks(_ queue: BatchQueue, _ step: inout Step<Self>) throws {
        for asked in queues[queue] {
            guard case .check(let deadline) = asked.purpose else { return }
            guard deadline <= step.boot else {
                step.wake(at: deadline)
                continue
            }
            queues.remove(asked, from: queue)
            step.notices.append(.checked(asked.key, .unreachable(LectureError(.callbackTransfer(28)))))
        }
    }

    /// A run does not wait for a server whose breaker has opened repeatedly: its items fail in this run.
    private mutating func abandon(_ queue: BatchQueue, _ origin: Origin, _ step: inout Step<Self>) throws -> Bool {
        guard queue.run != nil, pacer[origin].openings >= settings.openings else { return false }
        let error = faults[origin] ?? LectureError(.callbackTransfer(7))
        for asked in queues.remove(queue) { try finish(asked, error, &step) }
        return true
    }

    private mutating func wait(
        _ queue: BatchQueue, _ origin: Origin, _ admission: OriginPacer.Admission, _ step: inout Step<Self>
    ) throws {
        switch admission {
        case .busy(.budget): step.waitsForOthers = true
        case .yes, .busy: return
        case .later(let left): return step.wake(at: step.boot + left)
        case .waiting(let left): try wait(queue, for: left, LectureError(.serverWait), &step)
        case .broken(let left):
            try wait(queue, for: left, faults[origin] ?? LectureError(.callbackTransfer(7)), &step)
        }
    }

    private mutating func wait(
        _ queue: BatchQueue, for left: Duration, _ error: LectureError, _ step: inout Step<Self>
    ) throws {
        if queue.run != nil, left <= settings.longestWait { return step.wake(at: step.boot + left) }
        // No other purpose waits: neither a person, nor a download that has others to fetch, nor a stored callback.
        for asked in queues.remove(queue) { try postpone(asked, error, by: left, &step) }
    }

    /// Starts one request.
    private mutating func start(_ queue: BatchQueue, _ origin: Origin, _ step: inout Step<Self>) throws {
        var exchange = CallbackExchange(
            id: step.newTransfer(), queue: queue, origin: origin, items: [], questions: [], asked: step.now)
        for asked in queues.takeGroup(queue, origin, limit: settings.groupSize) {
            guard let entry = try step.context.entry(asked.key), asked.purpose.rank == 1 || entry.record != nil
            else {
                try finish(asked, LectureError(.licenceMissing), &step)
                continue
            }
            if case .regrant = asked.purpose, try !asksAnew(asked, entry, &step) { continue }
            exchange.items.append(asked)
            exchange.questions.append(CallbackQuestion(asked, entry, settings, step))
        }
        guard let first = exchange.items.first else { return }
        pacer.started(exchange.id, at: origin, boot: step.boot)
        var request = ExchangeRequest(id: exchange.id, url: queue.url, bodyLimit: CallbackReading.bodyLimit)
        request.body = CallbackQuestion.form(exchange.questions, extra: settings.extra)
        request.stallTimeout = settings.stallTimeout
        request.totalTimeout = settings.totalTimeout
        if case .check(let deadline) = first.purpose {
            request.totalTimeout = min(settings.totalTimeout, deadline - step.boot)
        }
        exchanges[exchange.id] = exchange
        step.effects.append(.exchange(.send(request)))
    }

    /// Whether a new grant is requested. Not if the licence is trusted by now: its use is known, and a grant would
    /// reset it. Not if this device cannot open the media: a grant would be of no use.
    private mutating func asksAnew(_ asked: Asked, _ entry: LicenceEntry, _ step: inout Step<Self>) throws -> Bool {
        if entry.suspicion == nil {
            try finish(asked, nil, &step)
            return false
        }
        guard try step.context.content(asked.key)?.isSealedElsewhere == true else { return true }
        try finish(asked, LectureError(.sealedElsewhere, detail: asked.key.text), &step)
        return false
    }
}
