import LectureFiles
import LectureFormats
public import LectureModel
import LectureStatistics
import LectureStore

extension LectureManager {
    /// Bookmarks: marked positions of lectures, which learners also set and remove without a network.
    ///
    /// ```swift
    /// try await manager.bookmarks.add("the proof", at: .seconds(90), to: key)
    /// for bookmark in try await manager.bookmarks.list(of: key) { show(bookmark) }
    /// let result = try await manager.bookmarks.sync(key)
    /// ```
    ///
    /// A list begins with the bookmarks that came with the lecture. A change is stored at once, and goes to the
    /// bookmark server as a learning report: ``LectureManager/Reports/send(options:)`` delivers it, and so does
    /// ``sync(_:user:)``, which also takes over what the server has since got. Where both have changed the same
    /// position, the change made here wins; everything else is the server's. docs/bookmarks.md has the rules.
    ///
    /// The learner of a call is the one named by the lecture's gateway unless another is given.
    public actor Bookmarks: CorePart {
        nonisolated let core: StoreCore
        private let reports: Reports

        /// The queue of the store's writer, which the manager and all of its façades share.
        public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

        init(_ core: StoreCore, _ reports: Reports) { (self.core, self.reports) = (core, reports) }

        /// Runs a query or a request on the core queue and waits for it. Must not be called on that queue.
        package nonisolated func wait<Result: Sendable>(
            _ body: @Sendable (isolated LectureManager.Bookmarks) throws -> Result
        ) rethrows -> Result {
            try core.wait { try assumeIsolated { try body($0) } }
        }
    }
}

extension LectureManager.Bookmarks {
    // MARK: Queries

    /// What the licence of a lecture permits.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: everything for a lecture that needs no licence.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func permission(of key: ContentKey) throws(LectureError) -> BookmarkPermission {
        try LectureError.only {
            guard try writer.contents.reportFacts(key.text) != nil else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            return try permitted(key)
        }
    }

    /// The bookmarks of a lecture, by position.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - user: the learner; nil for the one named by the gateway.
    /// - Returns: those that the licence permits to keep: none, the teacher's, or all.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func list(of key: ContentKey, user: String? = nil) throws(LectureError) -> [Bookmark] {
        try LectureError.only { try kept(try subject(key, user)) }
    }

    // MARK: Changes

    /// Sets a bookmark of the learner; one at the same position is replaced.
    ///
    /// - Parameters:
    ///   - value: its text, up to 4096 bytes.
    ///   - position: from the start of the lecture; rounded to milliseconds.
    ///   - key: the lecture.
    ///   - user: the learner; nil for the one named by the gateway.
    /// - Throws: ``LectureError``: `unknownContent`, `bookmarksNotPermitted`, `bookmarksReadOnly`, `bookmarkInvalid`, a
    ///   store's code.
    public func add(
        _ value: String, at position: Duration, to key: ContentKey, user: String? = nil
    ) throws(LectureError) {
        try BookmarkRules.check(value)
        let place = try BookmarkRules.position(position)
        try LectureError.only {
            var bookmark = BookmarkRecord(kind: .user, position: place, value: value, label: "")
            (bookmark.state, bookmark.changed) = (.added, clock.now())
            try change(try subject(key, user)) { rows, list in try rows.put(bookmark, in: list) }
        }
    }

    /// Removes a bookmark of the learner.
    ///
    /// - Parameters:
    ///   - position: from the start of the lecture.
    ///   - key: the lecture.
    ///   - user: the learner; nil for the one named by the gateway.
    /// - Throws: ``LectureError``: `unknownContent`, `bookmarkMissing`, `bookmarkOfTeacher`, `bookmarksNotPermitted`,
    ///   `bookmarksReadOnly`, `bookmarkInvalid`, a store's code.
    public func remove(at position: Duration, from key: ContentKey, user: String? = nil) throws(LectureError) {
        let place = try BookmarkRules.position(position)
        try LectureError.only {
            let now = clock.now()
            try change(try subject(key, user)) { rows, list in
                let there = try rows.bookmarks(list).filter { $0.position == place && $0.state != .removed }
                guard var bookmark = there.first(where: { $0.kind == .user }) else {
                    throw LectureError(there.isEmpty ? .bookmarkMissing : .bookmarkOfTeacher, detail: key.text)
                }
                (bookmark.state, bookmark.changed) = (.removed, now)
                try rows.put(bookmark, in: list)
            }
        }
    }

    // MARK: The server

    /// Delivers the changes of a lecture to its bookmark server, and takes over what the server has. Other reports that
    /// are due are sent, too.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - user: the learner; nil for the one named by the gateway.
    /// - Returns: what was delivered, and the bookmarks afterwards.
    /// - Throws: ``LectureError``: `unknownContent`, `bookmarksNotPermitted`, `bookmarkServerMissing`,
    ///   `bookmarkAnswer`, a transfer's or the server's code, a store's code. What was changed here stays, and is sent
    ///   again.
    ///   `CancellationError` when the task is cancelled.
    @discardableResult
    public func sync(_ key: ContentKey, user: String? = nil) async throws -> BookmarkSync {
        let subject = try subject(key, user)
        guard subject.permission.isUsed else { throw LectureError(.bookmarksNotPermitted, detail: key.text) }
        guard let channel = subject.channel else { throw LectureError(.bookmarkServerMissing, detail: key.text) }
        let before = try open(subject).count
        if before > 0 {
            // Changes without a report: there was no server to send them to, or it has refused the report.
            try index.transaction { transaction in
                try report(subject, in: transaction, again: false)
            }
            // A learner may be waiting. What is not delivered now goes out with the next reports.
            var options = SendOptions()
            (options.attempts, options.longestWait) = (2, .seconds(5))
            _ = try await reports.send(options: options)
        }
        let session = try openSession()
        let probe = SourceProbe(session, clock: clock, configuration: configuration)
        let fields = try configuration.statistics.headers(of: channel.target)
        let document = try await probe.document(channel.listURL, fields, limit: 8 << 20)
        let bookmarks = try BookmarkChannel.bookmarks(document)
        if isClosed { throw LectureError(.closing) }
        return try index.transaction { transaction in
            let rows = transaction.index.bookmarks
            let list = try existing(subject, rows)
            try rows.merge(bookmarks, into: list, now: clock.now())
            var result = BookmarkSync()
            result.waiting = try rows.bookmarks(list).count { $0.state != .settled }
            result.sent = max(0, before - result.waiting)
            result.bookmarks = Self.shown(try rows.bookmarks(list), subject.permission)
            return result
        }
    }

    /// The lectures and learners with changes that the server does not have yet.
    ///
    /// - Throws: ``LectureError`` of the store.
    public func waiting() throws(LectureError) -> [(key: ContentKey, user: String)] {
        try LectureError.only {
            try writer.bookmarks.open().map { (try ContentKey($0.content), $0.user) }
        }
    }

    // MARK: Parts

    /// A lecture and a learner, with what is known of them.
    private struct Subject {
        let key: ContentKey
        let user: String
        let permission: BookmarkPermission
        let channel: BookmarkChannel?
        /// The bookmarks that came with the lecture.
        let given: [BookmarkRecord]
    }

    private func subject(_ key: ContentKey, _ user: String?) throws -> Subject {
        if isClosed { throw LectureError(.closing) }
        guard let facts = try writer.contents.reportFacts(key.text) else {
            throw LectureError(.unknownContent, detail: key.text)
        }
        let descriptor = facts.descriptor.flatMap { try? JSONScanner.value(of: $0) }
        let user = user ?? descriptor?["client_user_id"]?.string ?? ""
        let channel = BookmarkChannel(
            descriptor: descriptor, configured: configuration.statistics.bookmarkURL, key: key.text, user: user,
            now: clock.now())
        let outline = facts.descriptor.map { ContentOutline(descriptor: $0) }
        let given = (outline?.bookmarks ?? []).map { mark in
            BookmarkRecord(
                kind: mark.isLearners ? .user : .index, position: Int64((mark.position * 1000).rounded()),
                value: mark.isLearners ? mark.value : "", label: mark.isLearners ? "" : mark.value)
        }
        return Subject(key: key, user: user, permission: try permitted(key), channel: channel, given: given)
    }

    private func permitted(_ key: ContentKey) throws -> BookmarkPermission {
        guard try writer.hasLicence(key) else { return .everything }
        return BookmarkPermission(try licensing.deviceLedger().ledger.entry(key)?.record?.policy)
    }

    /// The bookmarks that a learner sees.
    private func kept(_ subject: Subject) throws -> [Bookmark] {
        let rows = writer.bookmarks
        let list = try rows.list(subject.key.text, user: subject.user)
        return Self.shown(try list.map { try rows.bookmarks($0.id) } ?? subject.given, subject.permission)
    }

    private static func shown(_ records: [BookmarkRecord], _ permission: BookmarkPermission) -> [Bookmark] {
        guard permission.isUsed else { return [] }
        return records.filter { record in
            guard record.state != .removed else { return false }
            // What a learner has just written is not hidden, even where none came with the lecture.
            return record.kind == .index || permission.includesUsers || permission.isEditable
        }.map(Bookmark.init)
    }

    /// The open changes of a list.
    private func open(_ subject: Subject) throws -> [BookmarkRecord] {
        let rows = writer.bookmarks
        guard let list = try rows.list(subject.key.text, user: subject.user) else { return [] }
        return try rows.bookmarks(list.id).filter { $0.state != .settled }
    }

    /// The list of a learner; made of what came with the lecture when it is new.
    private func existing(_ subject: Subject, _ rows: BookmarkRows) throws -> BookmarkListID {
        if let list = try rows.list(subject.key.text, user: subject.user) { return list.id }
        return try rows.begin(subject.key.text, user: subject.user, subject.given)
    }

    /// Changes a list, and stores the report that says so.
    private func change(_ subject: Subject, _ body: (BookmarkRows, BookmarkListID) throws -> Void) throws {
        guard subject.permission.isUsed else {
            throw LectureError(.bookmarksNotPermitted, detail: subject.key.text)
        }
        guard subject.permission.isEditable else { throw LectureError(.bookmarksReadOnly, detail: subject.key.text) }
        try index.transaction { transaction in
            let rows = transaction.index.bookmarks
            try body(rows, try existing(subject, rows))
            try report(subject, in: transaction, again: true)
        }
    }

    /// Stores a report with all open changes of a list. A newer one makes an older one that waits unnecessary.
    ///
    /// - Parameters:
    ///   - subject: the lecture and the learner.
    ///   - transaction: the caller's.
    ///   - again: also when a report with them waits already.
    /// - Throws: ``LectureError``: `reportInvalid`, a store's code.
    private func report(_ subject: Subject, in transaction: SQLiteTransaction, again: Bool) throws {
        let rows = transaction.index.bookmarks
        guard let target = subject.channel?.target, let list = try rows.list(subject.key.text, user: subject.user)
        else { return }
        let changes = try rows.bookmarks(list.id).filter { $0.state != .settled }
        guard let first = changes.first else { return }
        if !again, let report = first.report, try rows.isWaiting(report) { return }
        let now = clock.now()
        var report = LearningReport(
            values: BookmarkChannel.values(changes, now: now), user: subject.user,
            session: "bookmarks-\(list.id.value)", content: subject.key.text)
        // A trigger of the schema settles the changes of the reports with such an id.
        let id = "bookmarks-\(UUIDv7.text(at: now, random: SystemRandom()))"
        report.id = id
        let storing = ReportStoring(core)
        let plan = try storing.plan(report, to: [target])
        _ = try storing.store(plan, transaction.outbox, isCumulative: true)
        try transaction.outbox.supersede(before: id, now: now)
        try rows.setReport(id, of: list.id)
    }
}
