import LectureFiles
public import LectureModel
import LectureStore

/// What rules of retention go by: pins, plays, and which rules were accepted.
extension LectureManager.Contents {
    /// Pins a lecture: only a removal that names it deletes it, or its server. A pin stays until ``unpin(_:)``, and is
    /// deleted with the lecture.
    ///
    /// - Parameter key: the lecture, complete or not.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func pin(_ key: ContentKey) throws(LectureError) { try setPin(key, clock.now()) }

    /// Takes the pin of a lecture away. One without a pin stays as it is.
    ///
    /// - Parameter key: the lecture.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func unpin(_ key: ContentKey) throws(LectureError) { try setPin(key, nil) }

    private func setPin(_ key: ContentKey, _ time: Timestamp?) throws(LectureError) {
        try LectureError.only {
            try index.transaction { transaction in
                guard let content = try transaction.index.contents.item(key)?.id else {
                    throw LectureError(.unknownContent, detail: key.text)
                }
                try transaction.index.uses.setPin(content, time)
            }
        }
    }

    /// The lectures that are pinned, and since when.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func pinned() throws(LectureError) -> [ContentKey: Timestamp] {
        try LectureError.only {
            Dictionary(try index.uses.pins().map { ($0.key, $0.time) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// How lectures are used, read at one moment.
    ///
    /// A play is noted when it starts, while it reports its position, and at its end. Programs that read a file by its
    /// path leave no trace.
    ///
    /// - Parameter keys: the lectures.
    /// - Returns: those that are in the store.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func uses(of keys: [ContentKey]) throws(LectureError) -> [ContentKey: LectureUse] {
        try LectureError.only {
            try index.read { transaction in
                var uses: [ContentKey: LectureUse] = [:]
                for key in keys { uses[key] = try transaction.index.uses.use(of: key, isAlive: locks.isAlive)?.use }
                return uses
            }
        }
    }

    /// The rules of retention that a person has accepted last, one a line; nil before the first time. A program that
    /// applies rules unattended compares its own with them.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func acceptedRetention() throws(LectureError) -> String? {
        try LectureError.only { try index.settings.value(of: Self.acceptedName) }
    }

    /// Records that a person has seen what rules of retention would remove, and wants that.
    ///
    /// - Parameter rules: one a line.
    /// - Throws: ``LectureError`` when the store cannot be written.
    public func acceptRetention(_ rules: String) throws(LectureError) {
        try LectureError.only { try index.transaction { try $0.index.settings.set(Self.acceptedName, rules) } }
    }

    private static let acceptedName = "retention.accepted"
}

extension LectureManager.Downloads {
    /// Deletes those lectures that nothing uses, with their files. Whether one is used is found out in the transaction
    /// that requests its removal, so that a play that begins meanwhile keeps it.
    ///
    /// As for ``remove(_:)-([ContentKey])`` the call returns when the requests are durable, and
    /// ``LectureEvent/removed(_:)`` reports when the files are gone.
    ///
    /// - Parameter keys: the lectures.
    /// - Returns: for each, in order, the key under which its removal will be reported, and why it stays; nil for one
    ///   that goes.
    /// - Throws: ``LectureError`` when the store cannot be written.
    public func removeUnused(
        _ keys: [ContentKey]
    ) throws(LectureError) -> [(key: ContentKey, obstacle: LectureUse.Obstacle?)] {
        try LectureError.only {
            // The last reports of plays whose programs were killed are made with the registration, before that lecture
            // can go.
            _ = try openService()
            SpaceReserve.freeSpaceToRemove(location)
            var outcomes: [(key: ContentKey, obstacle: LectureUse.Obstacle?)] = []
            var rest = keys[...]
            while !rest.isEmpty {
                // Other processes get their turn to write in between.
                let batch = Array(rest.prefix(1000))
                rest = rest.dropFirst(batch.count)
                outcomes += try writer.targets.requestRemovalOfUnused(
                    batch, now: clock.now(), isAlive: locks.isAlive)
            }
            if outcomes.contains(where: { $0.obstacle == nil }) { try follow(needsEngine: true) }
            return outcomes
        }
    }
}
