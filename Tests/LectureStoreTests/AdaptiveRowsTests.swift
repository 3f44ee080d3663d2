import LectureModel
import LectureSQLite
import LectureTestSupport
import SchemaMigrations
import Testing

@testable import LectureStore

/// The files and playlists of adaptive lectures.
@Suite struct AdaptiveRowsTests {
    /// Two segments, their map and key, and a subtitle, which is no file of the streams.
    private static let files: [(role: ResourceRole, name: String)] = [
        (.key, "0.key"), (.initialisation, "1.mp4"), (.segment, "2.m4s"), (.segment, "3.m4s"), (.key, "4.key"),
        (.segment, "5.m4s"),
    ]

    private static func requests(token: Int = 1, _ names: [(role: ResourceRole, name: String)] = files)
        -> [ResourceRequest]
    {
        names.map { file in
            var request = ResourceRequest(
                role: file.role, name: file.name, urls: ["http://127.0.0.1/\(file.name)?token=\(token)"])
            if file.role == .key { request.expectedBytes = 16 }
            return request
        }
    }

    /// A leased lecture with a playlist as its media, and another playlist.
    private static func began(
        _ store: StoreFixture, _ name: String = "a", _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> (lease: ContentLease, version: VersionID) {
        let lease = try store.lease(try store.add(name, change))
        let playlists = [
            ResourceRequest(role: .media, name: "", urls: ["http://127.0.0.1/\(name).m3u8"]),
            ResourceRequest(role: .playlist, name: "1.m3u8", urls: ["http://127.0.0.1/\(name)-1.m3u8"]),
        ]
        let version = try store.index.versions.beginVersion(lease, requests: playlists, now: store.now).id
        var facts = ContentFacts()
        facts.type = .adaptiveDownload
        _ = try store.index.contents.setFacts(lease, facts, now: store.now)
        return (lease, version)
    }

    private static func added(_ store: StoreFixture) throws -> (lease: ContentLease, version: VersionID) {
        let (lease, version) = try began(store)
        try store.index.adaptive.add(lease, version, requests(), now: store.now)
        return (lease, version)
    }

    /// Finishes or gives up a file.
    private static func set(
        _ store: StoreFixture, _ lease: ContentLease, _ version: VersionID, _ name: String,
        _ state: ResourceRecord.State, total: UInt64 = 1_000
    ) throws {
        var record = try #require(try store.index.adaptive.files(version, named: [name]).first)
        (record.state, record.chunkBytes, record.total) = (state, 1_000, state == .failed ? nil : total)
        if state != .failed { record.path = "media/\(name)" }
        try store.index.resources.updateResource(lease, record)
        guard state == .finalized else { return }
        let count = Int(record.grid.count(total: total))
        try store.index.resources.markCommitted(
            lease, record.id, StoreFixture.chunks(0..<count), bytes: total, now: store.now)
    }

    private static func names(
        _ store: StoreFixture, _ version: VersionID, after: Int = -1, _ limit: Int = 99
    ) throws -> [String] {
        try store.index.adaptive.unfinished(version, after: after, limit: limit).map(\.name)
    }

    @Test func `files are added behind those that are there, and count as a chunk each`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.began(store)
            let rows = store.index.adaptive
            try rows.add(lease, version, [], now: store.now)
            #expect(try store.item(lease.content).content.totalChunks == 0)
            let files = Self.requests()
            try rows.add(lease, version, Array(files[..<3]), now: store.now)
            try rows.add(lease, version, Array(files[3...]), now: store.now)
            let stored = try store.index.connection.resources(of: version).filter { $0.role.isOfStream }
            let inOrder = stored.sorted { $0.position < $1.position }
            #expect(inOrder.map(\.position) == Array(2...7))
            #expect(inOrder.map(\.name) == files.map(\.name) && inOrder.map(\.role) == files.map(\.role))
            #expect(inOrder.map(\.expectedBytes) == [16, nil, nil, nil, 16, nil])
            #expect(inOrder.allSatisfy { $0.state == .absent && $0.total == nil && $0.path.isEmpty })
            #expect(try inOrder.map { try store.index.servers.urlLeases($0.id).map(\.url) } == files.map(\.urls))
            var content = try store.item(lease.content).content
            #expect(content.type == .adaptiveDownload && content.totalChunks == 6 && content.committedChunks == 0)
            #expect(content.committedPercent == 0)
            // The length that is known at last takes the place of the one chunk.
            try Self.set(store, lease, version, "2.m4s", .finalized, total: 2_500)
            content = try store.item(lease.content).content
            #expect(content.totalChunks == 8 && content.committedChunks == 3 && content.committedBytes == 2_500)
        }
    }

    @Test func `what is unfinished is found in the order of play, whatever its role`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            let all = Self.files.map(\.name)
            #expect(try Self.names(store, version) == all)
            for limit in 0...7 { #expect(try Self.names(store, version, limit) == Array(all.prefix(limit))) }
            // Positions begin with those of the playlists.
            for after in 0...8 {
                let due = Array(all.dropFirst(max(0, after - 1)))
                #expect(try Self.names(store, version, after: after) == due)
                #expect(try Self.names(store, version, after: after, 2) == Array(due.prefix(2)))
            }
            try Self.set(store, lease, version, "1.mp4", .finalized)
            try Self.set(store, lease, version, "3.m4s", .failed)
            try Self.set(store, lease, version, "4.key", .planned, total: 16)
            try Self.set(store, lease, version, "2.m4s", .committed)
            #expect(try Self.names(store, version) == ["0.key", "2.m4s", "4.key", "5.m4s"])
            #expect(try Self.names(store, VersionID(version.value + 1)) == [])
        }
    }

    @Test func `unfinished files are looked up along the index`() throws {
        try StoreFixture.with { store in
            let plan = try store.index.connection.plan(
                AdaptiveRows.unfinishedOfRole, values: Array(repeating: .integer(1), count: 4))
            let due = "INDEX resource_version (version_id=? AND role=? AND position>?)"
            #expect(plan.contains { $0.contains(due) }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.hasPrefix("SCAN") }, "\(plan)")
        }
    }

    @Test func `totals, kept and missing files are those of the streams alone`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.began(store)
            let rows = store.index.adaptive
            var totals = try rows.totals(version)
            #expect(totals.all == StreamTotals() && totals.finished == StreamTotals() && totals.first == 0)
            try rows.add(
                lease, version, [ResourceRequest(role: .subtitle, name: "s.vtt", urls: ["http://127.0.0.1/s"])],
                now: store.now)
            try rows.add(lease, version, Self.requests(), now: store.now)
            totals = try rows.totals(version)
            #expect(totals.all.files == 6 && totals.all.chunks == 6 && totals.all.bytes == 0)
            #expect(totals.finished == StreamTotals() && totals.first == 3)
            #expect(try rows.missing(version, limit: 9).count == 0 && rows.kept(version).isEmpty)
            try Self.set(store, lease, version, "0.key", .finalized, total: 16)
            try Self.set(store, lease, version, "2.m4s", .finalized, total: 3_001)
            try Self.set(store, lease, version, "3.m4s", .planned, total: 1_500)
            for name in ["5.m4s", "1.mp4"] { try Self.set(store, lease, version, name, .failed) }
            totals = try rows.totals(version)
            #expect(totals.finished.files == 2 && totals.finished.chunks == 5 && totals.finished.bytes == 3_017)
            // A file that is given up has no chunks; the second key has its first one.
            #expect(totals.all.files == 6 && totals.all.chunks == 8 && totals.all.bytes == 4_517 && totals.first == 3)
            #expect(try rows.kept(version).map(\.name).sorted() == ["0.key", "2.m4s"])
            for limit in 0...3 {
                let missing = try rows.missing(version, limit: limit)
                #expect(missing.count == 2 && missing.first.map(\.name) == Array(["1.mp4", "5.m4s"].prefix(limit)))
            }
            #expect(
                try rows.files(version, named: ["5.m4s", "0.key", "s.vtt", "x"]).map(\.name) == ["0.key", "5.m4s"])
            #expect(try rows.files(version, named: []).isEmpty)
        }
    }

    @Test func `what was missing is tried again, and counts again`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            let rows = store.index.adaptive
            try Self.set(store, lease, version, "0.key", .finalized, total: 16)
            for name in ["3.m4s", "5.m4s"] { try Self.set(store, lease, version, name, .failed) }
            #expect(try store.item(lease.content).content.totalChunks == 4)
            try rows.retryMissing(lease, version)
            #expect(try rows.missing(version, limit: 9).count == 0)
            #expect(try Self.names(store, version) == ["1.mp4", "2.m4s", "3.m4s", "4.key", "5.m4s"])
            #expect(try store.item(lease.content).content.totalChunks == 6)
            #expect(try rows.kept(version).map(\.name) == ["0.key"])
            try rows.retryMissing(lease, version)
            #expect(try store.item(lease.content).content.totalChunks == 6)
        }
    }

    @Test func `playlists are replaced as a whole and go with their version`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            let rows = store.index.adaptive
            #expect(try rows.playlists(version).isEmpty && !rows.hasPlaylists(version))
            for texts in [["a", "b\n", "한"], ["c"], (0..<12).map { "\($0)" }, []] {
                try rows.setPlaylists(lease, version, texts)
                #expect(try rows.playlists(version) == texts)
                #expect(try rows.hasPlaylists(version) == !texts.isEmpty)
            }
            try rows.setPlaylists(lease, version, ["a", "b"])
            try Self.set(store, lease, version, "2.m4s", .finalized)
            let paths = try store.index.versions.discardVersion(lease, version)
            #expect(
                paths == [
                    "media/2.m4s", "media/stream-\(version.value)/main.m3u8", "media/stream-\(version.value)/1.m3u8",
                ])
            try store.index.versions.forgetVersion(version)
            #expect(try rows.playlists(version).isEmpty)
            #expect(try store.item(lease.content).content.totalChunks == 0)
        }
    }

    @Test func `the source's playlist is downloaded again and the files stay`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            let rows = store.index.adaptive
            for var record in try store.index.connection.resources(of: version) where !record.role.isOfStream {
                (record.state, record.path) = (.planned, "media/\(record.role.name)")
                (record.total, record.chunkBytes, record.entityTag) = (1_500, 1_000, "\"e\"")
                try store.index.resources.updateResource(lease, record)
                try store.index.resources.markCommitted(
                    lease, record.id, StoreFixture.chunks(0..<2), bytes: 1_500, now: store.now)
                try rows.setBase(lease, record.id, url: "http://127.0.0.2/\(record.role.name)")
                #expect(try rows.base(record.id) == "http://127.0.0.2/\(record.role.name)")
            }
            try Self.set(store, lease, version, "2.m4s", .finalized)
            #expect(try store.item(lease.content).content.committedBytes == 4_000)
            #expect(try rows.reopenPlaylists(lease, version) == ["media/playlist"])
            let others = try store.index.connection.resources(of: version).filter { !$0.role.isOfStream }
            let media = try #require(others.first)
            #expect(others.count == 1 && media.role == .media && media.state == .absent && media.total == nil)
            #expect(media.entityTag == nil && media.committedChunks == 0 && media.committedBytes == 0)
            #expect(try store.index.resources.chunks(media.id).isEmpty)
            #expect(try rows.kept(version).map(\.name) == ["2.m4s"])
            let content = try store.item(lease.content).content
            #expect(content.committedBytes == 1_000 && content.committedChunks == 1 && content.totalChunks == 6)
            #expect(try rows.reopenPlaylists(lease, version) == [])
            // Playlists of the new tokens come behind the files.
            try rows.add(
                lease, version, [ResourceRequest(role: .playlist, name: "1.m3u8", urls: ["http://127.0.0.1/1"])],
                now: store.now)
            #expect(try store.index.connection.resources(of: version).map(\.position).max() == 8)
        }
    }

    @Test func `new URLs replace those of the files that are not finished`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            let rows = store.index.adaptive
            func urls() throws -> [String] {
                try rows.files(version, named: Set(Self.files.map(\.name))).map {
                    String(try #require(store.index.servers.urlLeases($0.id).first?.url.split(separator: "=").last))
                }
            }
            try Self.set(store, lease, version, "0.key", .finalized, total: 16)
            try Self.set(store, lease, version, "3.m4s", .failed)
            func renew(_ requests: [ResourceRequest]) throws -> RenewedURLs {
                try rows.renew(lease, version, requests, now: store.now)
            }
            #expect(try renew(Self.requests()) == .same)
            #expect(try renew(Self.requests(token: 2)) == .new)
            #expect(try urls() == ["1", "2", "2", "2", "2", "2"])
            #expect(try renew(Self.requests(token: 2)) == .same)
            #expect(try rows.missing(version, limit: 9).count == 1)
            var other = Self.files
            other[5].name = "5.ts"
            var role = Self.files
            role[1].role = .segment
            for files in [Array(Self.files.dropLast()), Self.files + [(.segment, "6.m4s")], other, role, []] {
                #expect(try renew(Self.requests(token: 3, files)) == .others, "\(files)")
            }
            #expect(try urls() == ["1", "2", "2", "2", "2", "2"])
            // Only what is finished has other URLs.
            var some = Self.requests(token: 2)
            some[0].urls = ["http://127.0.0.1/elsewhere"]
            #expect(try renew(some) == .same)
        }
    }

    @Test func `without its lease nothing is changed`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            let (rows, now) = (store.index.adaptive, store.now)
            try rows.setPlaylists(lease, version, ["a"])
            try Self.set(store, lease, version, "3.m4s", .failed)
            let media = try #require(try store.index.connection.resources(of: version).first)
            try store.index.owners.release(lease)
            func picture() throws -> [String] {
                let files = try store.index.connection.resources(of: version).map {
                    "\($0) \(try rows.base($0.id) ?? "") \(try store.index.servers.urlLeases($0.id))"
                }
                return try files + rows.playlists(version) + ["\(store.item(lease.content).content)"]
            }
            let before = try picture()
            let writes: [(name: String, write: () throws -> Void)] = [
                ("setBase", { try rows.setBase(lease, media.id, url: "x") }),
                ("add", { try rows.add(lease, version, Self.requests(), now: now) }),
                ("setPlaylists", { try rows.setPlaylists(lease, version, ["b", "c"]) }),
                ("reopenPlaylists", { _ = try rows.reopenPlaylists(lease, version) }),
                ("retryMissing", { try rows.retryMissing(lease, version) }),
                ("renew", { _ = try rows.renew(lease, version, Self.requests(token: 9), now: now) }),
            ]
            for old in [false, true] {
                if old { _ = try store.lease(lease.content) }
                for (name, write) in writes {
                    #expect(lectureError(write)?.code == .leaseLost, "\(name)")
                }
                #expect(try old || picture() == before)
            }
        }
    }

    @Test func `a store from before adaptive lectures has none`() throws {
        let (directory, location) = try SchemaTests.store(shipped: "0015")
        let later = try StoreMaintenance.migrate(location, now: Timestamp(milliseconds: 1))
        #expect(later.first?.hasPrefix("0016") == true)
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
        let versions: [VersionID] = try index.connection.query("SELECT id FROM version") { $0.id(0) }
        #expect(!versions.isEmpty)
        for version in versions {
            #expect(try index.adaptive.playlists(version).isEmpty && !index.adaptive.hasPlaylists(version))
            #expect(try index.adaptive.totals(version).all == StreamTotals())
            for resource in try index.connection.resources(of: version) {
                #expect(try index.adaptive.base(resource.id) == nil)
            }
        }
        let contents: [ContentID] = try index.connection.query("SELECT id FROM content") { $0.id(0) }
        for content in contents { #expect(try index.contents.item(content)?.selection.isDefault == true) }
        _ = directory
    }

    // MARK: Live streams

    @Test func `a playlist is loaded again by itself, and its address and the files stay`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.added(store)
            #expect(try store.index.adaptive.nextPosition(version) == 8)
            var records = try store.index.versions.resources(version).filter { $0.role.namesFiles }
            for index in records.indices {
                records[index].state = .planned
                (records[index].path, records[index].total, records[index].entityTag) = ("media/\(index)", 10, "\"1\"")
                records[index].mediaType = "application/vnd.apple.mpegurl"
                try store.index.resources.updateResource(lease, records[index])
                try store.index.adaptive.setBase(lease, records[index].id, url: "http://127.0.0.1/base/\(index)")
            }
            let playlist = try #require(records.first { $0.role == .playlist })
            try store.index.adaptive.reload(lease, playlist.id)
            let after = try store.index.versions.resources(version)
            let again = try #require(after.first { $0.id == playlist.id })
            #expect(again.state == .absent && again.total == nil && again.entityTag == nil)
            #expect(again.path == playlist.path, "its file is replaced, not orphaned")
            #expect(try store.index.servers.urlLeases(playlist.id).map(\.url) == ["http://127.0.0.1/a-1.m3u8"])
            let source = try #require(after.first { $0.role == .media })
            #expect(source.state == .planned && source.entityTag == "\"1\"")
            #expect(try store.index.adaptive.unfinished(version, after: -1, limit: 100).count == Self.files.count)
        }
    }

    @Test func `the last files of each role are known with their addresses`() throws {
        try StoreFixture.with { store in
            let (_, version) = try Self.added(store)
            let sources = try store.index.adaptive.sources(version, limit: 2)
            let segments = sources.filter { $0.role == .segment }
            #expect(segments.map(\.name) == ["5.m4s", "3.m4s"], "the newest first")
            #expect(segments.map(\.url) == ["5.m4s", "3.m4s"].map { "http://127.0.0.1/\($0)?token=1" })
            #expect(sources.filter { $0.role == .key }.map(\.name) == ["4.key", "0.key"])
            #expect(sources.filter { $0.role == .initialisation }.map(\.name) == ["1.mp4"] && sources.count == 5)
        }
    }
}

/// What requests select of an adaptive lecture.
@Suite struct StreamSelectionRequestTests {
    private static let source = "http://127.0.0.1/a.m3u8"

    private static func selection(_ height: Int?, gaps: Bool = false) -> StreamSelection {
        var selection = StreamSelection()
        (selection.maxHeight, selection.allowsGaps) = (height, gaps)
        return selection
    }

    private static func request(_ store: StoreFixture, _ selection: StreamSelection?) throws -> RegisteredRequest {
        var request = DownloadRequest(url: source)
        request.selection = selection
        return try store.enqueue(request, "a")
    }

    /// Has a version of the lecture built; completes it.
    private static func build(_ store: StoreFixture, _ content: ContentID, completes: Bool) throws -> VersionID {
        let lease = try store.lease(content)
        let media = ResourceRequest(role: .media, name: "", urls: [source])
        let version = try store.index.versions.beginVersion(lease, requests: [media], now: store.now).id
        var facts = ContentFacts()
        facts.type = .adaptiveDownload
        _ = try store.index.contents.setFacts(lease, facts, now: store.now)
        let segment = ResourceRequest(role: .segment, name: "0.ts", urls: ["http://127.0.0.1/0.ts"])
        try store.index.adaptive.add(lease, version, [segment], now: store.now)
        for var record in try store.index.connection.resources(of: version) {
            (record.state, record.path) = (.finalized, "media/\(record.id.value)")
            (record.total, record.chunkBytes) = (1_000, 1_000)
            try store.index.resources.updateResource(lease, record)
            try store.index.resources.markCommitted(
                lease, record.id, StoreFixture.chunks([0]), bytes: 1_000, now: store.now)
        }
        if completes {
            try store.index.versions.completeVersion(lease, version, sha256: nil, now: store.now)
        } else {
            try store.index.owners.release(lease)
        }
        return version
    }

    private struct Case {
        var first: StreamSelection?
        var next: StreamSelection?
        /// Whether the streams stay.
        var isSame: Bool
        /// What is stored in the end.
        var stored: StreamSelection
    }

    private static let cases: [Case] = [
        Case(first: nil, next: nil, isSame: true, stored: StreamSelection()),
        Case(first: nil, next: StreamSelection(), isSame: true, stored: StreamSelection()),
        Case(first: selection(720), next: nil, isSame: true, stored: selection(720)),
        Case(first: selection(720), next: selection(720), isSame: true, stored: selection(720)),
        Case(first: selection(720), next: selection(720, gaps: true), isSame: true, stored: selection(720, gaps: true)),
        Case(first: selection(720, gaps: true), next: selection(720), isSame: true, stored: selection(720)),
        Case(first: selection(720, gaps: true), next: nil, isSame: true, stored: selection(720, gaps: true)),
        Case(first: selection(720), next: selection(360), isSame: false, stored: selection(360)),
        Case(first: selection(720), next: StreamSelection(), isSame: false, stored: StreamSelection()),
        Case(first: nil, next: selection(360, gaps: true), isSame: false, stored: selection(360, gaps: true)),
    ]

    @Test(arguments: cases.indices) func `other streams discard what is not complete`(place: Int) throws {
        let due = Self.cases[place]
        try StoreFixture.with { store in
            let id = try Self.request(store, due.first).id
            #expect(try store.item(id).selection == due.first ?? StreamSelection())
            let version = try Self.build(store, id, completes: false)
            #expect(try Self.request(store, due.next).outcome == .alreadyQueued)
            #expect(try store.item(id).selection == due.stored)
            #expect(try store.index.versions.building(id)?.version == (due.isSame ? version : nil))
            #expect(try store.index.adaptive.kept(version).count == (due.isSame ? 1 : 0))
            #expect(try store.item(id).content.committedBytes == (due.isSame ? 2_000 : 0))
            let left = try store.index.versions.discardedVersions().map(\.0)
            #expect(left == (due.isSame ? [] : [version]))
        }
    }

    @Test(arguments: cases.indices) func `other streams outdate what is complete, and it stays until then`(
        place: Int
    ) throws {
        let due = Self.cases[place]
        try StoreFixture.with { store in
            let id = try Self.request(store, due.first).id
            let version = try Self.build(store, id, completes: true)
            #expect(try Self.request(store, due.next).outcome == (due.isSame ? .alreadyComplete : .outdated))
            let item = try store.item(id)
            #expect(item.selection == due.stored)
            #expect(item.content.state == (due.isSame ? .completed : .queued))
            let complete = try #require(try store.index.versions.completeVersion(id))
            #expect(complete.id == version && complete.isOutdated == !due.isSame)
            guard !due.isSame else { return }
            // The other streams take its place.
            let next = try Self.build(store, id, completes: true)
            #expect(try store.index.versions.completeVersion(id)?.id == next)
            #expect(try store.index.versions.completeVersion(id)?.isOutdated == false)
            #expect(try Self.request(store, due.next).outcome == .alreadyComplete)
        }
    }

    @Test func `going back to the streams that are complete`() throws {
        try StoreFixture.with { store in
            let id = try Self.request(store, Self.selection(720)).id
            let first = try Self.build(store, id, completes: true)
            #expect(try Self.request(store, Self.selection(360)).outcome == .outdated)
            let second = try Self.build(store, id, completes: false)
            // The version being built is of 360 lines and must not complete as one of 1080.
            #expect(try Self.request(store, Self.selection(1_080)).outcome != .alreadyComplete)
            #expect(try store.index.versions.building(id) == nil, "\(second)")
            #expect(try store.item(id).selection == Self.selection(1_080))
            #expect(try store.index.versions.completeVersion(id)?.id == first)
        }
    }

    @Test func `while streams are downloaded, others are refused and gaps are accepted`() throws {
        try StoreFixture.with { store in
            let id = try Self.request(store, Self.selection(720)).id
            let version = try Self.build(store, id, completes: false)
            let lease = try store.lease(id)
            let error = lectureError { _ = try Self.request(store, Self.selection(360)) }
            #expect(error?.code == .storeBusy && error?.detail == "a")
            #expect(try store.item(id).selection == Self.selection(720))
            for selection in [nil, Self.selection(720), Self.selection(720, gaps: true)] {
                #expect(try Self.request(store, selection).outcome == .alreadyQueued)
            }
            try store.index.versions.completeVersion(lease, version, sha256: nil, now: store.now)
            // What is complete is what its selection says.
            #expect(try store.item(id).selection == Self.selection(720, gaps: true))
            #expect(try Self.request(store, Self.selection(720)).outcome == .alreadyComplete)
            #expect(try Self.request(store, Self.selection(360)).outcome == .outdated)
        }
    }

    @Test func `a selection says nothing of a lecture that is no stream`() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            var request = DownloadRequest(url: "http://127.0.0.1/a.mp4")
            request.selection = Self.selection(720)
            #expect(try store.enqueue(request, "a").outcome == .alreadyComplete)
            #expect(try store.index.versions.completeVersion(id)?.isOutdated == false)
        }
    }
}

// MARK: Files of encrypted lectures

extension AdaptiveRowsTests {
    /// The second and further positions, as the playlists name them: two files are there before those of the streams.
    private static let named: [(role: ResourceRole, name: String)] = [
        (.key, "2.key"), (.initialisation, "3.mp4"), (.segment, "4.m4s"), (.key, "5.key"), (.segment, "6.m4s"),
    ]

    @Test func `files are found by their names, and by their states in the order of play`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.began(store)
            let rows = store.index.adaptive
            try rows.add(lease, version, Self.requests(Self.named), now: store.now)
            for (role, name) in Self.named { #expect(try rows.file(version, named: name)?.role == role, "\(name)") }
            for name in ["4.ts", "", "key", "1.m3u8", "0.key", "99.ts"] {
                #expect(try rows.file(version, named: name) == nil, "\(name)")
            }
            for (name, state) in [
                ("2.key", .finalized), ("3.mp4", .finalized), ("4.m4s", .failed), ("6.m4s", .finalized),
            ]
                as [(String, ResourceRecord.State)]
            {
                try Self.set(store, lease, version, name, state)
            }
            #expect(try rows.positions(version, in: .finalized) == [3, 6], "keys are none of them")
            #expect(try rows.positions(version, in: .failed) == [4])
            #expect(try rows.positions(version, in: .absent).isEmpty)
        }
    }

    @Test func `a file that is fetched again has neither chunks nor a length, and keeps its place`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.began(store)
            let rows = store.index.adaptive
            try rows.add(lease, version, Self.requests(Self.named), now: store.now)
            for name in ["2.key", "5.key", "6.m4s"] { try Self.set(store, lease, version, name, .finalized, total: 16) }
            let before = try #require(try rows.file(version, named: "2.key"))
            try rows.refetch(lease, version, named: ["2.key", "7.key"])
            let after = try #require(try rows.file(version, named: "2.key"))
            #expect(after.state == .absent && after.total == nil && after.id == before.id && after.expectedBytes == 16)
            #expect(try store.index.resources.chunks(after.id).isEmpty)
            #expect(try Self.names(store, version).first == "2.key")
            #expect(try rows.kept(version).map(\.name) == ["5.key", "6.m4s"])
            let content = try store.item(lease.content).content
            #expect(content.committedBytes == 32 && content.totalChunks == 5)
            let other = ContentLease(content: lease.content, fence: lease.fence + 1)
            let error = #expect(throws: LectureError.self) { try rows.refetch(other, version, named: ["5.key"]) }
            #expect(error?.code == .leaseLost)
        }
    }

    @Test func `only playlists that name keys are read for them`() throws {
        try StoreFixture.with { store in
            let (lease, version) = try Self.began(store)
            let texts = [
                "#EXTM3U\n", "#EXTM3U\n#EXT-X-KEY:METHOD=NONE\n", "#EXTM3U\n", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128\n",
            ]
            try store.index.adaptive.setPlaylists(lease, version, texts)
            #expect(try store.index.adaptive.encryptedPlaylists(version) == [texts[1], texts[3]])
            try store.index.adaptive.setPlaylists(lease, version, [texts[0]])
            #expect(try store.index.adaptive.encryptedPlaylists(version).isEmpty)
        }
    }
}
