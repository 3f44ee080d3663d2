import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Which lectures a list names, and which have left it.
@Suite struct CourseListRowTests {
    /// Registers a link of a gateway that has not answered.
    private func link(_ name: String, _ store: StoreFixture) throws -> ContentID {
        let id = try store.index.requests.enqueue(
            DownloadRequest(url: "http://127.0.0.1/si?jwt=\(name)"),
            source: RequestSource(
                derivedKey: try ContentKey(name), identity: Array("link \(name)".utf8), isGateway: true),
            check: .list, now: store.now
        ).id
        try store.index.owners.join(store.run, content: id)
        return id
    }

    /// Reads a list as a run does.
    @discardableResult
    private func read(_ name: String, _ contents: ContentID..., in store: StoreFixture) throws -> Int {
        try store.index.courseLists.add(to: name, contents: contents)
        return try finish(name, contents, store)
    }

    private func finish(
        _ name: String, _ contents: [ContentID], _ store: StoreFixture, run: RunID? = nil
    ) throws -> Int {
        try store.index.courseLists.finish(name, contents: ContentSet(contents), run: run ?? store.run, now: store.now)
    }

    /// The lecture that a link turns out to lead to.
    private func lead(_ link: ContentID, to other: ContentID, _ store: StoreFixture) throws {
        let lease = try store.lease(link)
        var facts = ContentFacts()
        facts.key = try store.item(other).content.key
        #expect(try store.index.contents.setFacts(lease, facts, now: store.now) == other)
        try store.index.contents.merge(lease, into: other)
    }

    private func gone(_ lists: String..., in store: StoreFixture) throws -> [ContentID] {
        try store.index.courseLists.contentsGone(from: lists, before: store.now).gone
    }

    @Test func `what a list no longer names has left it, and what reappears has not`() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.completed("a"), try store.completed("b"))
            try read("list", a, b, in: store)
            #expect(try gone("list", in: store).isEmpty)
            try read("list", a, in: store)
            #expect(try gone("list", in: store) == [b])
            #expect(try gone("other", in: store).isEmpty)
            #expect(try store.index.courseLists.contentsGone(from: ["list"], before: store.now).named == 2)
            let before = Timestamp(milliseconds: store.now.milliseconds - 1)
            #expect(try store.index.courseLists.contentsGone(from: ["list"], before: before).gone.isEmpty)
            try read("list", a, b, in: store)
            #expect(try gone("list", in: store).isEmpty)
        }
    }

    @Test func `a list that was not read to its end only gains lectures`() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.completed("a"), try store.completed("b"))
            try read("A", a, b, in: store)
            // The run ends before B is finished.
            try store.index.courseLists.add(to: "B", contents: [b])
            let read = try store.index.connection.first("SELECT read_ms FROM course_list WHERE name = 'B'") {
                $0.int64(0)
            }
            #expect(read == 0)
            try self.read("A", a, in: store)
            #expect(try gone("A", "B", in: store).isEmpty, "B names it")
            try store.index.courseLists.add(to: "A", contents: [a])
            #expect(try finish("B", [], store) == 0)
            #expect(try gone("A", "B", in: store) == [b])
        }
    }

    @Test func `nothing is gone from a list with a gateway link that is not loaded`() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.completed("a"), try store.completed("b"))
            try read("list", a, b, in: store)
            let fresh = try link("fresh", store)
            #expect(try read("list", a, fresh, in: store) == 1)
            #expect(try gone("list", in: store).isEmpty)
            #expect(try store.index.courseLists.contentsGone(from: ["list"], before: store.now).named == 3)

            try lead(fresh, to: b, store)
            #expect(try finish("list", [a, fresh], store) == 0)
            #expect(try gone("list", in: store).isEmpty, "the link's lecture is the one that the list names")
            try read("list", a, in: store)
            #expect(try gone("list", in: store) == [b])
        }
    }

    @Test func `two links to one lecture name it, each in its own list`() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.completed("a"), try store.completed("b"))
            for list in ["A", "B"] { try read(list, a, b, in: store) }
            let run = try store.index.owners.beginRun(owner: store.owner, command: "", now: store.now)
            let links = [try link("one", store), try link("two", store)]
            for (list, link) in zip(["A", "B"], links) {
                try store.index.owners.join(run, content: link)
                try store.index.courseLists.add(to: list, contents: [link])
            }
            // The second replaces the first as the source of the lecture.
            for link in links { try lead(link, to: a, store) }
            for (list, link) in zip(["A", "B"], links) { #expect(try finish(list, [link], store, run: run) == 0) }
            #expect(try gone("A", in: store) == [b])
            #expect(try gone("B", in: store) == [b])
        }
    }

    @Test func `assuming what lists name finds what recording it finds`() throws {
        try StoreFixture.with { store in
            var generator = SeededGenerator(seed: 7)
            let contents = try (0..<8).map { try store.completed("c\($0)") }
            let lists = ["A", "B", "C"]
            for round in 0..<60 {
                store.now = store.now + .seconds(60)
                let keep = Duration.seconds(round % 3 * 90)
                func some() -> [ContentID] { contents.filter { _ in generator.next() % 3 > 0 } }
                // C is not part of this run, or is and was not read to its end.
                let named = ["A": some(), "B": some()]
                var reading = CourseListRows.AssumedReading(time: store.now)
                reading.named = Set(named.values.joined())
                if round % 5 == 4 { reading.kept = [contents[round % 8]] }
                let before = store.now + (.zero - keep)
                let assumed = try store.index.courseLists.contentsGone(
                    from: ["A", "B"], before: before, assuming: reading)

                if round % 5 == 4 { try store.index.courseLists.add(to: "", contents: [contents[round % 8]]) }
                for (list, contents) in named {
                    try store.index.courseLists.add(to: list, contents: contents)
                    _ = try finish(list, contents, store)
                }
                let recorded = try store.index.courseLists.contentsGone(from: ["A", "B"], before: before)
                #expect(assumed == recorded, "round \(round)")
                _ = try round % 4 == 0 ? finish(lists[2], some(), store) : 0
                if round % 5 == 4 { try store.index.connection.execute("DELETE FROM course_list WHERE name = ''") }
            }
        }
    }

    @Test func `samples and what is being removed are never gone`() throws {
        try StoreFixture.with { store in
            let (a, b, sample) = (try store.completed("a"), try store.completed("b"), try store.leased("sample"))
            var facts = ContentFacts()
            facts.type = .sample
            #expect(try store.index.contents.setFacts(sample, facts, now: store.now) == nil)
            try read("list", a, b, sample.content, in: store)
            try read("list", in: store)
            #expect(try gone("list", in: store) == [a, b])
            let keys = [try ContentKey("unknown"), try ContentKey("a")]
            #expect(try store.index.targets.requestRemoval(of: keys, now: store.now) == [nil, keys[1]])
            #expect(try store.index.contents.contentsToRemove(limit: 9) == [a])
            #expect(try gone("list", in: store) == [b])
        }
    }
}
