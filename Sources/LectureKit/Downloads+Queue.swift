import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

/// Controlling the queue. Every call is durable when it returns; work follows at once, in any process.
extension LectureManager.Downloads {
    /// Downloads a known lecture.
    ///
    /// The current state counts, not what an earlier run recorded: claims of processes that have ended are released
    /// first. A lecture that another process is downloading is accepted, and ``LectureManager/events`` reports its
    /// progress there. One whose file is missing is downloaded again.
    ///
    /// - Parameter key: its identity.
    /// - Throws: ``LectureError``: `notLoaded` when nothing has this key, `alreadyDownloading` while this manager
    ///   downloads it, `alreadyDownloaded` when it is complete.
    public func start(_ key: ContentKey) throws(LectureError) {
        try LectureError.only {
            guard try index.contents.item(key) != nil else { throw LectureError(.notLoaded, detail: key.text) }
            let service = try openService()
            try dismissEndedProcesses()
            guard let item = try index.contents.item(key), item.content.state != .removing else {
                throw LectureError(.notLoaded, detail: key.text)
            }
            if item.content.state == .completed {
                guard try requeueIfMissing(item) else { throw LectureError(.alreadyDownloaded, detail: key.text) }
            } else if item.targetState == .fetch, service.engine.isWorking(on: item.id) {
                throw LectureError(.alreadyDownloading, detail: key.text)
            }
            try index.transaction { transaction in
                _ = try transaction.index.targets.setTargetState(key, .fetch, now: clock.now())
                try transaction.index.owners.join(service.run, content: item.id)
            }
            try service.follow(item.id)
            try follow()
        }
    }

    /// Releases the claims of processes that ended without releasing them, so that no stale state is taken for work in
    /// progress.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read or written.
    package func dismissEndedProcesses() throws {
        let ended = try index.owners.all().filter { !locks.isAlive($0) }
        guard !ended.isEmpty else { return }
        try index.transaction { transaction in
            for owner in ended { try transaction.index.owners.dismissOwner(owner, now: clock.now()) }
        }
    }

    /// Cleans up after a killed run: releases its claims and finishes its removals.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read or written.
    package func tidyAfterCrash() throws {
        try dismissEndedProcesses()
        if try removalsLeft() > 0 { try follow(needsEngine: true) }
    }

    /// Pauses a lecture and keeps the received bytes; ``resume(_:)`` continues from there.
    ///
    /// - Parameter key: the lecture.
    /// - Throws: ``LectureError``: `unknownContent`, `alreadyDownloaded`.
    public func pause(_ key: ContentKey) throws(LectureError) { try setTargetState(key, .pause) }

    /// Resumes a lecture that was paused, cancelled, stopped, or has failed.
    ///
    /// - Parameter key: the lecture.
    /// - Throws: ``LectureError``: `unknownContent`, `alreadyDownloaded`.
    public func resume(_ key: ContentKey) throws(LectureError) { try setTargetState(key, .fetch) }

    /// Cancels a lecture, keeping the received bytes; ``resumeAll()`` skips it, ``resume(_:)`` starts it again.
    ///
    /// - Parameter key: the lecture.
    /// - Throws: ``LectureError``: `unknownContent`, `alreadyDownloaded`.
    public func cancel(_ key: ContentKey) throws(LectureError) { try setTargetState(key, .cancel) }

    /// Deletes a lecture with its files, after its transfers have stopped. An unknown key is not an error: the lecture
    /// is already gone.
    ///
    /// The call returns when the request is durable; ``LectureEvent/removed(_:)`` reports when the files are gone.
    ///
    /// - Parameter key: the lecture.
    /// - Throws: ``LectureError`` when the store cannot be written.
    public func remove(_ key: ContentKey) throws(LectureError) { try remove([key]) }

    /// Deletes lectures with their files, as ``remove(_:)-(ContentKey)`` deletes one. All are marked in a few
    /// transactions, and deleted in the order they were registered.
    ///
    /// - Parameter keys: the lectures.
    /// - Returns: for each, in order, the key under which ``LectureEvent/removed(_:)`` will report it; nil for one that
    ///   is not in the store.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func remove(_ keys: [ContentKey]) throws(LectureError) -> [ContentKey?] {
        try LectureError.only {
            SpaceReserve.freeSpaceToRemove(location)
            var current: [ContentKey?] = []
            var rest = keys[...]
            while !rest.isEmpty {
                // Other processes get their turn to write in between.
                let batch = Array(rest.prefix(1000))
                rest = rest.dropFirst(batch.count)
                current += try writer.targets.requestRemoval(of: batch, now: clock.now())
            }
            try follow(needsEngine: true)
            return current
        }
    }

    /// Pauses everything that is not complete.
    ///
    /// - Returns: how many lectures were paused.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func pauseAll() throws(LectureError) -> Int { try setTargetStateOfAll(.pause) }

    /// Resumes everything that was paused or stopped or has failed; cancelled lectures are skipped.
    ///
    /// - Returns: how many lectures were resumed.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func resumeAll() throws(LectureError) -> Int { try setTargetStateOfAll(.fetch) }

    /// Cancels everything that is not complete.
    ///
    /// - Returns: how many lectures were cancelled.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func cancelAll() throws(LectureError) -> Int { try setTargetStateOfAll(.cancel) }

    /// Deletes everything.
    ///
    /// - Parameter includingSamples: whether samples are deleted as well.
    /// - Returns: how many lectures are deleted.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func removeAll(includingSamples: Bool = false) throws(LectureError) -> Int {
        try LectureError.only {
            SpaceReserve.freeSpaceToRemove(location)
            let count = try index.transaction {
                try $0.index.targets.setTargetStateOfAll(.remove, includingSamples: includingSamples, now: clock.now())
            }
            try follow(needsEngine: true)
            return count
        }
    }

    /// Changes a lecture's priority, also while it waits in another process's queue.
    ///
    /// - Parameters:
    ///   - priority: −100 (last) … 100 (first).
    ///   - key: the lecture.
    /// - Throws: ``LectureError``: `unknownContent`, `parameter`.
    public func setPriority(_ priority: Int, of key: ContentKey) throws(LectureError) {
        try LectureError.only {
            guard (-100...100).contains(priority) else {
                throw LectureError(.parameter, detail: "priority", cause: "-100 to 100")
            }
            guard try index.transaction({ try $0.index.targets.setPriority(key, priority) }) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            try follow()
        }
    }

    /// Moves a lecture within the queue.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - place: the target position.
    /// - Throws: ``LectureError``: `unknownContent`.
    public func move(_ key: ContentKey, to place: QueuePlace) throws(LectureError) {
        try LectureError.only {
            let isKnown = try index.transaction { transaction in
                switch place {
                case .first: try transaction.index.targets.move(key, before: nil, toEnd: false)
                case .last: try transaction.index.targets.move(key, before: nil, toEnd: true)
                case .before(let other): try transaction.index.targets.move(key, before: other, toEnd: false)
                }
            }
            guard isKnown else { throw LectureError(.unknownContent, detail: key.text) }
            try follow()
        }
    }

    private func setTargetState(_ key: ContentKey, _ targetState: TargetState) throws(LectureError) {
        try LectureError.only {
            // A lecture held only by a dead process follows at once.
            try dismissEndedProcesses()
            guard let item = try index.contents.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
            guard item.content.state != .completed else { throw LectureError(.alreadyDownloaded, detail: key.text) }
            try index.transaction { transaction in
                _ = try transaction.index.targets.setTargetState(key, targetState, now: clock.now())
                if targetState == .fetch, let service {
                    try transaction.index.owners.join(service.run, content: item.id)
                }
            }
            try follow()
        }
    }

    private func setTargetStateOfAll(_ targetState: TargetState) throws(LectureError) -> Int {
        try LectureError.only {
            try dismissEndedProcesses()
            let count = try index.transaction { transaction in
                let index = transaction.index
                let count = try index.targets.setTargetStateOfAll(targetState, includingSamples: true, now: clock.now())
                if targetState == .fetch, let service { _ = try index.owners.joinUnfinished(service.run) }
                return count
            }
            try follow()
            return count
        }
    }

    /// Lets work follow a changed request.
    func follow(needsEngine: Bool = false) throws {
        let moving = needsEngine ? try openService() : service
        moving?.engine.setNeedsStep()
        moving?.wake()
    }

    /// How many lectures are waiting to be removed, including by other processes.
    ///
    /// - Returns: how many there are.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func removalsLeft() throws(LectureError) -> Int {
        try LectureError.only { try queries.removalsLeft() }
    }

    /// Whether the last request for a lecture, by any process, was to download it.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: false when it is not known.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func isWanted(_ key: ContentKey) throws -> Bool { try index.contents.item(key)?.targetState == .fetch }
}

/// A position in the queue, among lectures of the same priority.
public enum QueuePlace: Sendable, Hashable {
    /// Before all others.
    case first
    /// After all others.
    case last
    /// Directly before another lecture.
    ///
    /// - Parameter key: the other lecture.
    case before(ContentKey)
}
