import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import KollusSDK
@testable import LectureKit
@testable import LectureStore

/// What the façade reads from the store to report events.
@Suite struct ProgressReadingTests {
    /// The statements of a manager's connection. Confined to the manager's queue.
    private final class Statements: @unchecked Sendable {
        var all: [String] = []

        /// Records the statements from now on.
        func watch(_ manager: isolated LectureManager) {
            all = []
            manager.core.writer.connection.faultPoint = { [unowned self] in
                if case .statement(let sql) = $0 { all.append(sql) }
            }
        }

        /// Returns how many rows were read with their joins since the last call.
        func detailReads() -> Int {
            defer { all = [] }
            return all.count { $0.contains("content.company") }
        }

        /// Ends the records.
        func end(_ manager: isolated LectureManager) { manager.core.writer.connection.faultPoint = nil }
    }

    private func states(_ events: [KollusEvent]) -> Int {
        events.count {
            switch $0 {
            case .waiting, .started, .completed: true
            default: false
            }
        }
    }

    @Test func `a download reads a row once for each change of its state, and none for its progress`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let key = try storage.loadContentURL(scene.media("6M-1", "fault=slow:2000000"))
        let (manager, statements) = (try storage.manager(), Statements())
        manager.wait { statements.watch($0) }
        let events = storage.events
        try storage.downloadContent(key)
        var seen: [KollusEvent] = []
        for await event in events {
            seen.append(event)
            if case .completed = event { break }
        }
        let reads = manager.wait { manager in
            statements.end(manager)
            return statements.detailReads()
        }
        let progress = seen.compactMap {
            if case .progress(let content, let progress) = $0 { (content, progress) } else { nil }
        }
        #expect(progress.count >= 5)
        // One more for the event that says that the download was accepted.
        #expect(reads > 0 && reads <= states(seen) + 1, "\(progress.count) reports of progress")
        for (content, progress) in progress {
            #expect(content.downloadSize == progress.bytes && content.state == .downloading)
            #expect(content.fileSize == 6 << 20 && content.title == "bytes-6M-1.mp4" && content.contentIndex == 1)
        }
    }

    /// A storage whose download has stalled, so that its state stays the same.
    private func stalled(_ scene: Classroom) async throws -> (KollusStorage, ContentKey) {
        let storage = try scene.started()
        let key = try storage.loadContentURL(scene.media("16M-2"))
        _ = try await scene.holding("16M-2", after: 2_000_000)
        let events = storage.events
        try storage.downloadContent(key)
        for await event in events {
            if case .progress(_, let progress) = event, progress.bytes > 0 { break }
        }
        return (storage, try ContentKey(key))
    }

    @Test func `a thousand reports of progress run no statement on a row`() async throws {
        let scene = try await Classroom()
        let (storage, key) = try await stalled(scene)
        defer { storage.close() }
        let (manager, router, statements) = (try storage.manager(), storage.core.router, Statements())
        let events = storage.events
        manager.wait { manager in
            var progress = DownloadProgress(key: key, title: "", state: .downloading)
            progress.total = 16 << 20
            progress.bytes = 8 << 20
            for count in 0...1000 {
                // The first reads, if nothing is known.
                if count == 1 { statements.watch(manager) }
                progress.bytes += 1
                router.route(.progress(progress), manager)
            }
            #expect(Set(statements.all) == ["PRAGMA data_version"])
            statements.end(manager)
        }
        var last: (KollusContent, KollusProgress)?
        for await event in events {
            guard case .progress(let content, let progress) = event else { continue }
            last = (content, progress)
            if progress.bytes == 8 << 20 + 1001 { break }
        }
        let (content, progress) = try #require(last)
        #expect(content.downloadSize == progress.bytes && content.downloadProgress == 50)
        #expect(content.fileSize == 16 << 20 && content.state == .downloading && content.title == "bytes-16M-2.mp4")
    }

    @Test func `what others write, and what calls write, is in the next report of progress`() async throws {
        let scene = try await Classroom()
        let (storage, key) = try await stalled(scene)
        defer { storage.close() }
        let (manager, router, statements) = (try storage.manager(), storage.core.router, Statements())
        let (events, file) = (storage.events, "\(scene.place.path)/store/lecturekit.db")
        try manager.wait { manager in
            let other = try Connection(path: file, access: .readWrite)
            var progress = DownloadProgress(key: key, title: "", state: .downloading)
            progress.total = 16 << 20
            progress.bytes = 8 << 20
            /// Two reports, of which the second reads nothing.
            func reads(_ manager: isolated LectureManager) -> Int {
                for _ in 0..<2 {
                    progress.bytes += 1
                    router.route(.progress(progress), manager)
                }
                return statements.detailReads()
            }
            _ = reads(manager)
            statements.watch(manager)
            #expect(reads(manager) == 0)
            try other.execute("UPDATE content SET title = 'Renamed' WHERE key = ?", key.text)
            #expect(reads(manager) == 1)
            try manager.contents.assumeIsolated { try $0.setResumePoint(.seconds(7), of: key) }
            #expect(reads(manager) == 1)
            for event in [LectureEvent.licenceGranted(key), .licenceEnded(key), .trouble(LectureError(.ledgerForged))] {
                router.route(event, manager)
                #expect(reads(manager) == 1)
            }
            #expect(reads(manager) == 0)
            statements.end(manager)
        }
        var contents: [KollusContent] = []
        for await event in events {
            guard case .progress(let content, let progress) = event, progress.bytes > 8 << 20 else { continue }
            contents.append(content)
            if contents.count == 16 { break }
        }
        #expect(contents.count { $0.title == "Renamed" } == 12)
        let (before, after) = ([Double](repeating: 0, count: 6), [Double](repeating: 7, count: 10))
        #expect(contents.map(\.position) == before + after)
    }
}

/// The values that replace what would be read.
@Suite struct KnownDetailsTests {
    private let key: ContentKey
    private let writes = WritesWithoutEvents(others: 1, calls: 1)
    private let now = Timestamp(milliseconds: 10_000)

    init() throws { key = try ContentKey("lecture-1") }

    private func details(
        _ state: ItemState = .downloading, _ policy: LicencePolicy? = nil, _ reasons: [LicenceReason] = []
    )
        -> ContentDetails
    {
        var content = Content(key: key, sourceURL: "", title: "", state: state, added: now)
        (content.totalBytes, content.committedBytes) = (1000, 400)
        var details = ContentDetails(content: content, number: 1)
        if let policy {
            var entry = LicenceEntry(key: key, source: LicenceSource())
            entry.record = LicenceRecord(form: .callback, policy: policy, isVerified: true)
            details.licence = LicenceStatus(entry, reasons: reasons)
        }
        return details
    }

    private func progress(_ bytes: Int64, _ state: ItemState = .downloading, total: Int64? = nil) -> DownloadProgress {
        var progress = DownloadProgress(key: key, title: "", state: state)
        (progress.bytes, progress.total) = (bytes, total)
        return progress
    }

    private func kept(_ details: ContentDetails) -> KnownDetails {
        var known = KnownDetails()
        known.keep(details, after: writes, at: now)
        return known
    }

    @Test func `kept details are updated to the progress`() throws {
        let known = kept(details())
        let later = try #require(known.details(progress(700), after: writes, at: now))
        #expect(
            (later.content.state, later.content.totalBytes, later.content.committedBytes) == (.downloading, 1000, 400))
        let verifying = known.details(progress(1200, .verifying, total: 1200), after: writes, at: now)?.content
        #expect(verifying?.state == .verifying && verifying?.totalBytes == 1200)
        let restarted = known.details(progress(100), after: writes, at: now)?.content
        #expect(restarted?.committedBytes == 100)
        let ending = known.details(progress(700, .stopped), after: writes, at: now)?.content
        #expect(ending?.state == .downloading)
    }

    @Test func `details are read again after other writes, and after the clock was set back`() {
        let known = kept(details())
        #expect(known.details(progress(1), after: WritesWithoutEvents(others: 2, calls: 1), at: now) == nil)
        #expect(known.details(progress(1), after: WritesWithoutEvents(others: 1, calls: 2), at: now) == nil)
        #expect(known.details(progress(1), after: writes, at: Timestamp(milliseconds: 9_999)) == nil)
        #expect(known.details(progress(1), after: writes, at: Timestamp(milliseconds: 99_000)) != nil)
    }

    @Test func `a bound of a licence ends what is known`() {
        let bounds: [WritableKeyPath<LicencePolicy, Timestamp?>] = [\.startsAt, \.expiresAt, \.checkAt]
        for bound in bounds { check(bound) }
    }

    private func check(_ bound: WritableKeyPath<LicencePolicy, Timestamp?>) {
        var policy = LicencePolicy()
        policy[keyPath: bound] = Timestamp(milliseconds: 20_000)
        let known = kept(details(.downloading, policy))
        #expect(known.details(progress(1), after: writes, at: Timestamp(milliseconds: 19_999)) != nil)
        #expect(known.details(progress(1), after: writes, at: Timestamp(milliseconds: 20_000)) == nil)
        // A bound that has passed changes nothing any more.
        policy[keyPath: bound] = Timestamp(milliseconds: 9_000)
        #expect(kept(details(.downloading, policy)).details(progress(1), after: writes, at: now) != nil)
    }

    @Test func `nothing is kept where the clock is not trusted, and of a lecture that is not in work`() {
        let untrusted = kept(details(.downloading, LicencePolicy(), [.clockUntrusted]))
        #expect(untrusted.details(progress(1), after: writes, at: now) == nil)
        for state in [ItemState.queued, .stopped, .failed, .completed, .removing] {
            #expect(kept(details(state)).details(progress(1), after: writes, at: now) == nil)
        }
    }

    @Test func `every event about a lecture or its licence ends what is known of it`() throws {
        let (content, other) = (details().content, try ContentKey("lecture-2"))
        var strange = content
        strange.key = other
        let exchange = LicenceExchange(server: "", kind: 1, items: "[]", answer: nil, error: nil)
        let changes: [LectureEvent] = [
            .queued(content), .advanced(content), .completed(content), .unchanged(content), .outdated(content),
            .failed(content), .stopped(content), .removed(key), .licenceGranted(key), .licenceEnded(key),
            .licenceDeleted(key), .renewed(key: key, current: 1, count: 1, error: nil), .licenceExchange(exchange),
            .renewalEnded(RenewalReport()), .trouble(LectureError(.ledgerForged)),
        ]
        for event in changes {
            var known = kept(details())
            known.take(event)
            #expect(known.details(progress(1), after: writes, at: now) == nil, "\(event)")
        }
        let others: [LectureEvent] = [
            .progress(progress(1)), .advanced(strange), .removed(other), .licenceGranted(other),
            .renewalBegan(total: 1, done: 0), .published(key: key, path: ""), .reportsDelivered([]),
            .reportsSent(ReportSendResult()),
        ]
        for event in others {
            var known = kept(details())
            known.take(event)
            #expect(known.details(progress(1), after: writes, at: now) != nil, "\(event)")
        }
    }
}
