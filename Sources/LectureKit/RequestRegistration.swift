import LectureDownload
import LectureModel
import LectureStore

/// Registers requests in one transaction: those for new lectures wait until there are some, and are added by one
/// statement.
struct RequestRegistration: CorePart {
    let core: StoreCore
    private let service: DownloadService
    private let comparer: SourceComparer
    /// How far lectures that are complete are compared with their requests.
    private let check: SourceCheck
    private var new = NewLectures()
    /// For each request, in order, the outcome, or why it was refused.
    private(set) var results: [Result<Enqueued, LectureError>] = []
    /// What was registered, in order.
    private(set) var registered: [RegisteredRequest] = []
    /// What has to be compared after the commit.
    private(set) var due: [CheckRequest] = []

    /// Registers nothing yet.
    ///
    /// - Parameters:
    ///   - core: what the parts share.
    ///   - service: downloads what is registered.
    ///   - comparer: compares complete lectures with what is requested.
    ///   - check: how far lectures that are complete are compared with their requests.
    init(_ core: StoreCore, _ service: DownloadService, _ comparer: SourceComparer, check: SourceCheck) {
        (self.core, self.service, self.comparer, self.check) = (core, service, comparer, check)
    }

    /// Registers requests, within the caller's transaction.
    ///
    /// - Parameter requests: as the caller made them.
    /// - Throws: ``LectureError`` when the store cannot be written; then nothing may be committed.
    mutating func register(_ requests: [DownloadRequest]) throws {
        results.reserveCapacity(requests.count)
        registered.reserveCapacity(requests.count)
        for request in requests {
            do {
                try register(request)
            } catch let error as LectureError where error.code.isRefusedInput {
                try addNew()
                results.append(.failure(error))
            }
        }
        try addNew()
    }

    private mutating func register(_ request: DownloadRequest) throws {
        let request = try prepared(request)
        let source = try source(of: request)
        if new.mayHave(request, source) { try addNew() }
        try checkOutput(of: request, source)
        guard let known = try index.requests.find(request, source) else {
            try ContentRequests.check(request)
            new.append(request, source)
            if new.isFull { try addNew() }
            return
        }
        try addNew()
        let registered = try register(request, source, for: known)
        append(registered)
        switch registered.outcome {
        case .alreadyComplete: service.engine.publish(registered.id)
        case .checking:
            due.append(CheckRequest(content: registered.id, key: registered.key, request: request, source: source))
            service.session.prepareRequests()
        case .added, .resumed, .alreadyQueued, .outdated, .damaged: expectDownload(of: registered)
        }
    }

    private mutating func addNew() throws {
        guard !new.isEmpty else { return }
        let added = try index.requests.add(new, now: clock.now())
        new = NewLectures()
        if let first = added.first, let last = added.last {
            try index.owners.join(service.run, contents: first.id...last.id)
        }
        for lecture in added {
            append(lecture)
            expectDownload(of: lecture)
        }
    }

    private func expectDownload(of lecture: RegisteredRequest) {
        if check == .head { comparer.assumeIsolated { $0.wantsHead(lecture.id) } }
        // Loading libcurl and its libraries takes 15 ms, which a run with nothing to download need not spend.
        service.session.prepareRequests()
    }

    private func register(
        _ request: DownloadRequest, _ source: RequestSource, for known: ItemRecord
    ) throws -> RegisteredRequest {
        var registered = try index.requests.enqueue(
            request, source: source, for: known, check: check, now: clock.now())
        let id = registered.id
        try index.owners.join(service.run, content: id)
        if registered.outcome == .alreadyComplete || registered.outcome == .checking,
            let record = try index.contents.item(id), let error = try mediaFault(of: record)
        {
            try requireMediaDirectory()
            try writer.versions.markMissing(id, error, isQueued: true, now: clock.now())
            registered.outcome = .damaged
        }
        return registered
    }

    private mutating func append(_ request: RegisteredRequest) {
        registered.append(request)
        results.append(.success(Enqueued(key: request.key, outcome: request.outcome)))
    }
}
