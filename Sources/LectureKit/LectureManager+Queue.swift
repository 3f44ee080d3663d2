import LectureDownload
public import LectureModel

/// Steering what is in the queue. Every call is durable when it returns; work follows at once, in whichever process
/// does it.
extension LectureManager {
    /// Stops a content and keeps what was fetched; ``resume(_:)`` goes on from there.
    ///
    /// - Parameter key: the content.
    /// - Throws: ``LectureError``: `unknownContent`, `alreadyDownloaded`.
    public func pause(_ key: ContentKey) throws { try setDesire(key, .pause) }

    /// Goes on with a content that was paused, cancelled, stopped, or has failed.
    ///
    /// - Parameter key: the content.
    /// - Throws: ``LectureError``: `unknownContent`, `alreadyDownloaded`.
    public func resume(_ key: ContentKey) throws { try setDesire(key, .fetch) }

    /// Stops a content for good, keeping what was fetched; ``resumeAll()`` passes it by, naming it starts it again.
    ///
    /// - Parameter key: the content.
    /// - Throws: ``LectureError``: `unknownContent`, `alreadyDownloaded`.
    public func cancel(_ key: ContentKey) throws { try setDesire(key, .cancel) }

    /// Deletes a content with its files, after its transfers have stopped. An unknown key is fine: it is gone already.
    ///
    /// The call returns when the wish is durable; ``LectureEvent/removed(_:)`` tells when the files are gone.
    ///
    /// - Parameter key: the content.
    /// - Throws: ``LectureError`` when the store cannot be written.
    public func remove(_ key: ContentKey) throws {
        _ = try index.transaction { try index.setDesire(key, .remove, now: clock.now()) }
        try follow(needsEngine: true)
    }

    /// Pauses everything that is not complete.
    ///
    /// - Returns: how many contents were paused.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func pauseAll() throws -> Int { try setDesireOfAll(.pause) }

    /// Goes on with everything that was paused or stopped or has failed; what was cancelled is passed by.
    ///
    /// - Returns: how many contents go on.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func resumeAll() throws -> Int { try setDesireOfAll(.fetch) }

    /// Cancels everything that is not complete.
    ///
    /// - Returns: how many contents were cancelled.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func cancelAll() throws -> Int { try setDesireOfAll(.cancel) }

    /// Deletes everything.
    ///
    /// - Parameter includingSamples: whether samples go as well.
    /// - Returns: how many contents go.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func removeAll(includingSamples: Bool = false) throws -> Int {
        let count = try index.transaction {
            try index.setDesireOfAll(.remove, includingSamples: includingSamples, now: clock.now())
        }
        try follow(needsEngine: true)
        return count
    }

    /// Changes how early a content comes; also while it waits in another process's queue.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - priority: −100 (last) … 100 (first).
    /// - Throws: ``LectureError``: `unknownContent`, `parameter`.
    public func setPriority(_ key: ContentKey, _ priority: Int) throws {
        guard (-100...100).contains(priority) else {
            throw LectureError(.parameter, detail: "priority", cause: "-100 to 100")
        }
        guard try index.transaction({ try index.setPriority(key, priority) }) else {
            throw LectureError(.unknownContent, detail: key.text)
        }
        try follow()
    }

    /// Moves a content within the queue.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - place: where to.
    /// - Throws: ``LectureError``: `unknownContent`.
    public func move(_ key: ContentKey, to place: QueuePlace) throws {
        let isKnown = try index.transaction {
            switch place {
            case .first: try index.move(key, before: nil, toEnd: false)
            case .last: try index.move(key, before: nil, toEnd: true)
            case .before(let other): try index.move(key, before: other, toEnd: false)
            }
        }
        guard isKnown else { throw LectureError(.unknownContent, detail: key.text) }
        try follow()
    }

    private func setDesire(_ key: ContentKey, _ desire: Desire) throws {
        guard let item = try index.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        guard item.content.state != .completed else { throw LectureError(.alreadyDownloaded, detail: key.text) }
        try index.transaction {
            _ = try index.setDesire(key, desire, now: clock.now())
            if desire == .fetch, let room { try index.join(room.run, content: item.id) }
        }
        try follow()
    }

    private func setDesireOfAll(_ desire: Desire) throws -> Int {
        let count = try index.transaction {
            let count = try index.setDesireOfAll(desire, includingSamples: true, now: clock.now())
            if desire == .fetch, let room { _ = try index.joinUnfinished(room.run) }
            return count
        }
        try follow()
        return count
    }

    /// Lets work follow a changed wish.
    private func follow(needsEngine: Bool = false) throws {
        let moving = needsEngine ? try openRoom() : room
        moving?.engine.poke()
        moving?.wake()
    }
}

/// A place in the queue, among contents of the same priority.
public enum QueuePlace: Sendable, Hashable {
    /// Before all others.
    case first
    /// After all others.
    case last
    /// Directly before another content.
    ///
    /// - Parameter key: the other content.
    case before(ContentKey)
}
