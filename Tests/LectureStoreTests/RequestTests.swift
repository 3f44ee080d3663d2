import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct RequestTests {
    @Test func aNewRequestIsKeptWithEverythingItSays() throws {
        try StoreFixture.with { store in
            let id = try store.add("a") { request in
                request.key = ContentKey(stored: "key \"1\"")
                request.title = "Title"
                request.course = "Course"
                request.teacher = "Teacher"
                request.folder = "a/b"
                request.sha256 = [UInt8](repeating: 5, count: 32)
                request.size = 77
                request.priority = -3
                request.headers = ["Authorization": "Bearer \"x\"", "A": "b/c"]
                request.mirrors = ["http://127.0.0.2/a", "http://127.0.0.3/a"]
                request.outputPath = "/tmp/a.mp4"
            }
            let item = try store.item(id)
            #expect(item.content.key.text == "key \"1\"")
            #expect(item.content.title == "Title")
            #expect(item.content.course == "Course")
            #expect(item.content.teacher == "Teacher")
            #expect(item.content.folder == "a/b")
            #expect(item.expectedSHA256 == [UInt8](repeating: 5, count: 32))
            #expect(item.expectedBytes == 77)
            #expect(item.content.priority == -3)
            #expect(item.headers == ["Authorization": "Bearer \"x\"", "A": "b/c"])
            #expect(item.mirrors == ["http://127.0.0.2/a", "http://127.0.0.3/a"])
            #expect(item.content.added == store.now)
            #expect(item.content.state == .queued)
            #expect(!item.isLoaded && !item.isGateway)
            #expect(try store.index.outputs.pending(id).map(\.path) == ["/tmp/a.mp4"])
            try store.index.outputs.delete(id, path: "/tmp/a.mp4")
            #expect(try store.index.outputs.pending(id).isEmpty)
        }
    }

    /// The event of a new lecture has what was written, so that its row is not read again.
    @Test func `A lecture that is added is returned as it is read`() throws {
        let changes: [(inout DownloadRequest) -> Void] = [
            { _ in }, { $0.priority = 100 }, { $0.priority = -100 },
            { ($0.title, $0.course, $0.teacher, $0.folder) = ("제목\0 \"1\"", "Course", "Teacher", "a/b") },
            { ($0.sha256, $0.size, $0.outputPath) = ([UInt8](repeating: 5, count: 32), 77, "/tmp/a.mp4") },
            { ($0.headers, $0.mirrors) = (["Authorization": "Bearer x"], ["http://127.0.0.2/a"]) },
            { $0.key = ContentKey(stored: "key \"1\"") },
            { request in
                var selection = StreamSelection()
                selection.maxHeight = 720
                request.selection = selection
            },
        ]
        try StoreFixture.with { store in
            for (number, change) in changes.enumerated() {
                var request = DownloadRequest(url: "http://127.0.0.1/\(number)/lecture%20a.mp4")
                change(&request)
                let registered = try store.enqueue(request, "a\(number)")
                #expect(registered.outcome == .added)
                #expect(try registered.added == store.item(registered.id).content)
                #expect(registered.added?.key == registered.key)
                #expect(try store.enqueue(request, "a\(number)").added == nil)
            }
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1/a/b/lecture%201.mp4?sig=1#x", "lecture%201.mp4"), ("http://127.0.0.1/a/", "a"),
        ("http://127.0.0.1/", "http://127.0.0.1/"), ("http://127.0.0.1?x=/y", "http://127.0.0.1?x=/y"),
    ])
    func aTitleIsTakenFromTheURLWhenThereIsNone(url: String, title: String) throws {
        try StoreFixture.with { store in
            let id = try store.enqueue(DownloadRequest(url: url), "a").id
            #expect(try store.item(id).content.title == title)
        }
    }

    @Test func theSameSourceIsTheSameContentWhateverItsSignature() throws {
        try StoreFixture.with { store in
            let first = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a?sig=1"), "a")
            let again = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a?sig=2"), "a")
            #expect(first.outcome == .added)
            #expect(again.outcome == .alreadyQueued)
            #expect(first.id == again.id)
            #expect(try store.item(first.id).content.sourceURL == "http://127.0.0.1/a?sig=2")
        }
    }

    @Test func aKeyThatIsNamedDecides() throws {
        try StoreFixture.with { store in
            let first = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a"), "a")
            var named = DownloadRequest(url: "http://127.0.0.1/a")
            named.key = try ContentKey("other")
            let second = try store.enqueue(named, "a")
            #expect(second.outcome == .added)
            #expect(second.id != first.id)
            named.url = "http://127.0.0.9/elsewhere"
            #expect(try store.enqueue(named, "elsewhere").id == second.id)
        }
    }

    @Test func aDerivedKeyThatIsTakenMeansThatContent() throws {
        try StoreFixture.with { store in
            let first = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a"), "a")
            let moved = try store.index.requests.enqueue(
                DownloadRequest(url: "http://127.0.0.1/b"),
                source: RequestSource(derivedKey: try ContentKey("a"), identity: [1], isGateway: false), check: .list,
                now: store.now)
            #expect(moved.id == first.id)
        }
    }

    @Test func aCompleteContentIsNotFetchedAgainButItsOutputIsRequested() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            _ = try store.index.targets.setTargetState(try ContentKey("a"), .remove, now: store.now)
            var request = DownloadRequest(url: "http://127.0.0.1/a.mp4")
            request.outputPath = "/tmp/out"
            #expect(try store.enqueue(request, "a").outcome == .alreadyComplete)
            let item = try store.item(id)
            #expect(item.content.state == .completed)
            #expect(item.targetState == .fetch)
            #expect(try store.index.outputs.pending(id).map(\.path) == ["/tmp/out"])
        }
    }

    @Test func `a link with a fresh token is stored for a complete lecture`() throws {
        try StoreFixture.with { store in
            func request(_ token: UInt8) throws -> RegisteredRequest {
                var request = DownloadRequest(url: "http://127.0.0.1/si?jwt=\(token)")
                request.key = try ContentKey("lecture")
                let source = RequestSource(
                    derivedKey: try ContentKey("token-\(token)"), identity: [token], isGateway: true)
                return try store.index.requests.enqueue(request, source: source, check: .list, now: store.now)
            }
            let id = try request(1).id
            try store.complete(id)
            #expect(try request(2).outcome == .alreadyComplete)
            #expect(try store.item(id).content.sourceURL == "http://127.0.0.1/si?jwt=2")
            #expect(try store.item(id).content.state == .completed)
        }
    }

    @Test func `a check of a replaced version does not mark the new one`() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            let old = try #require(try store.index.versions.completeVersion(id)).id
            #expect(try store.index.versions.supersede(id, version: old, by: .newerAtSource, now: store.now))
            try store.complete(id)
            let new = try #require(try store.index.versions.completeVersion(id))
            #expect(new.id != old)
            #expect(try !store.index.versions.supersede(id, version: old, by: .newerAtSource, now: store.now))
            #expect(try store.index.versions.completeVersion(id)?.isOutdated == false)
            #expect(try store.item(id).content.state == .completed)
            #expect(try store.index.versions.supersede(id, version: new.id, by: .newerAtSource, now: store.now))
            #expect(try store.index.versions.completeVersion(id)?.isOutdated == true)
        }
    }

    @Test func whatStoppedOrFailedGoesOnWithAFreshStart() throws {
        try StoreFixture.with { store in
            let statuses = [
                ItemStatus(.stopped, stopReason: .network, attempts: 3, nextAttempt: store.now, waitSet: store.now),
                ItemStatus(.failed, error: LectureError(.status(404), detail: "x", cause: "y"), attempts: 9),
            ]
            for (place, status) in statuses.enumerated() {
                let (lease, _, resource) = try store.planned("a\(place)")
                try store.index.resources.markCommitted(
                    lease, resource.id, StoreFixture.chunks([0]), bytes: 1_000, now: store.now)
                try store.index.contents.setStatus(lease, status, now: store.now)
                let stored = try store.item(lease.content).content
                #expect(stored.error == status.error)
                #expect(stored.error?.detail == status.error?.detail)
                #expect(stored.attempts == status.attempts)
                try store.index.owners.release(lease)
                let outcome = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a\(place).mp4"), "a\(place)")
                    .outcome
                #expect(outcome == .resumed)
                let content = try store.item(lease.content).content
                #expect(content.state == .queued)
                #expect(content.error == nil && content.nextAttempt == nil && content.attempts == 0)
                #expect(content.committedBytes == 1_000)
            }
        }
    }

    @Test func aLeasedContentIsLeftToItsOwner() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            try store.index.contents.setStatus(lease, ItemStatus(.downloading, attempts: 2), now: store.now)
            #expect(try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a.mp4"), "a").outcome == .alreadyQueued)
            let item = try store.item(lease.content)
            #expect(item.content.state == .downloading)
            #expect(item.content.attempts == 2)
        }
    }

    @Test func aContentWhoseRemovalWasCutShortBeginsAnew() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            _ = try store.index.targets.setTargetState(try ContentKey("a"), .remove, now: store.now)
            let lease = try store.lease(id)
            try store.index.contents.setStatus(lease, ItemStatus(.removing), now: store.now)
            let busy = lectureError { _ = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a.mp4"), "a") }
            #expect(busy?.code == .storeBusy)
            try store.index.owners.release(lease)
            #expect(try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a.mp4"), "a").outcome == .resumed)
            let item = try store.item(id)
            #expect(item.content.state == .queued && item.content.committedBytes == 0 && item.content.totalBytes == nil)
            #expect(item.currentVersion == nil)
        }
    }

    @Test func mediaWhoseURLChangedGoesOnFromTheNewOne() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            #expect(try store.index.contents.setFacts(lease, ContentFacts(), now: store.now) == nil)
            _ = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a.mp4?sig=2"), "a")
            #expect(try store.item(lease.content).isLoaded)
            #expect(try store.index.servers.urlLeases(resource.id).map(\.url) == ["http://127.0.0.1/a.mp4?sig=2"])
        }
    }

    @Test func aGatewayWhoseLinkChangedIsAskedAgain() throws {
        try StoreFixture.with { store in
            func request(_ url: String) throws -> ContentID {
                try store.index.requests.enqueue(
                    DownloadRequest(url: url),
                    source: RequestSource(derivedKey: try ContentKey("a"), identity: [1], isGateway: true),
                    check: .list, now: store.now
                ).id
            }
            let id = try request("http://127.0.0.1/si?jwt=1")
            #expect(try store.index.contents.setFacts(store.lease(id), ContentFacts(), now: store.now) == nil)
            _ = try request("http://127.0.0.1/si?jwt=1")
            #expect(try store.item(id).isLoaded)
            _ = try request("http://127.0.0.1/si?jwt=2")
            #expect(try !store.item(id).isLoaded)
        }
    }

    @Test func aVersionBeingBuiltGoesOnWithTheNewURLs() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            #expect(try store.index.contents.setFacts(lease, ContentFacts(), now: store.now) == nil)
            let request = ResourceRequest(role: .media, name: "", urls: ["http://127.0.0.1/a.mp4?sig=1"])
            let version = try store.index.versions.beginVersion(lease, requests: [request], now: store.now).id
            _ = try store.enqueue(DownloadRequest(url: "http://127.0.0.1/a.mp4?sig=2"), "a")
            #expect(try store.item(lease.content).isLoaded)
            #expect(try store.index.versions.building(lease.content)?.version == version)
            let media = try #require(try store.index.versions.resources(version).first)
            #expect(try store.index.servers.urlLeases(media.id).map(\.url) == ["http://127.0.0.1/a.mp4?sig=2"])
        }
    }

    @Test func aPriorityOutOfRangeIsRefused() throws {
        try StoreFixture.with { store in
            #expect(lectureError { try store.add("a") { $0.priority = 101 } }?.code == .parameter)
            try store.add("b")
            #expect(
                lectureError { _ = try store.index.targets.setPriority(try ContentKey("b"), -101) }?.code == .parameter)
        }
    }

    @Test func factsAreKeptAndNilLeavesWhatIsThere() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            var facts = ContentFacts()
            facts.key = try ContentKey("real")
            facts.title = "Title"
            facts.duration = .milliseconds(1_500)
            facts.type = .sample
            facts.descriptor = #"{"version":1}"#
            #expect(try store.index.contents.setFacts(lease, facts, now: store.now) == nil)
            #expect(try store.index.contents.setFacts(lease, ContentFacts(), now: store.now) == nil)
            let item = try #require(try store.index.contents.item(try ContentKey("real")))
            #expect(item.content.title == "Title")
            #expect(item.content.duration == .milliseconds(1_500))
            #expect(item.content.type == .sample)
            #expect(item.isGateway)
        }
    }

    @Test func twoSourcesThatAreOneContentBecomeOne() throws {
        try StoreFixture.with { store in
            let kept = try store.add("kept")
            let id = try store.add("second") { $0.outputPath = "/tmp/second" }
            let lease = try store.lease(id)
            var facts = ContentFacts()
            facts.key = try ContentKey("kept")
            facts.title = "must not be stored"
            #expect(try store.index.contents.setFacts(lease, facts, now: store.now) == kept)
            #expect(try store.item(id).content.title == "second.mp4")
            let other = try store.index.owners.beginRun(owner: store.owner, command: "", now: store.now)
            try store.index.owners.join(other, content: id)
            try store.index.contents.merge(lease, into: kept)
            #expect(try store.index.contents.item(id) == nil)
            #expect(try store.index.outputs.pending(kept).map(\.path) == ["/tmp/second"])
            #expect(try store.index.owners.contents(other, state: .queued, limit: 9).map(\.key.text) == ["kept"])
            #expect(try store.index.owners.contents(store.run, state: .queued, limit: 9).count == 1)
        }
    }
}
