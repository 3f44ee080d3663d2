import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

/// Steering what is in the queue. Every call is durable when it returns; work follows at once, in whichever process
/// does it.
extension LectureManager {
    /// Downloads a lecture that is known.
    ///
    /// What counts is what is so now, not what an earlier run wrote down: the claims of processes that have ended are
    /// given up first. A lecture that another process is downloading is accepted, and ``events`` reports what becomes
    /// of it there. One whose file is missing is downloaded again.
    ///
    /// - Parameter key: its identity.
    /// - Throws: ``LectureError``: `notLoaded` when nothing has this key, `alreadyDownloading` while this manager
    ///   downloads it, `alreadyDownloaded` when it is complete.
    public func download(_ key: ContentKey) throws {
        guard try index.item(key) != nil else { throw LectureError(.notLoaded, detail: key.text) }
        let room = try openRoom()
        try dismissEndedProcesses()
        guard let item = try index.item(key), item.content.state != .removing else {
            throw LectureError(.notLoaded, detail: key.text)
        }
        if item.content.state == .completed {
            guard let error = try mediaFault(of: item) else {
                throw LectureError(.alreadyDownloaded, detail: key.text)
            }
            try requireMediaDirectory()
            _ = try index.transaction { try writer.markMissing(item.id, error, isQueued: true, now: clock.now()) }
        } else if item.desire == .fetch, room.engine.isWorking(on: item.id) {
            throw LectureError(.alreadyDownloading, detail: key.text)
        }
        try index.transaction {
            _ = try index.setDesire(key, .fetch, now: clock.now())
            try index.join(room.run, content: item.id)
        }
        try room.follow(item.id)
        room.engine.poke()
        room.wake()
    }

    /// Gives up what processes had claimed that have ended without doing so themselves, so that no state which they
    /// left behind is taken for work.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read or written.
    package func dismissEndedProcesses() throws {
        let ended = try index.owners().filter { !locks.isAlive($0) }
        guard !ended.isEmpty else { return }
        try index.transaction {
            for owner in ended { try index.dismissOwner(owner, now: clock.now()) }
        }
    }

    /// Does what has to be done after a run that was killed: its claims are given up, and its removals are finished.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read or written.
    package func tidyAfterCrash() throws {
        try dismissEndedProcesses()
        if try removalsLeft() > 0 { try follow(needsEngine: true) }
    }

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
        // A lecture that only a dead process works on follows at once.
        try dismissEndedProcesses()
        guard let item = try index.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        guard item.content.state != .completed else { throw LectureError(.alreadyDownloaded, detail: key.text) }
        try index.transaction {
            _ = try index.setDesire(key, desire, now: clock.now())
            if desire == .fetch, let room { try index.join(room.run, content: item.id) }
        }
        try follow()
    }

    private func setDesireOfAll(_ desire: Desire) throws -> Int {
        try dismissEndedProcesses()
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
