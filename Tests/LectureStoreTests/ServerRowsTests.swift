import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct ServerRowsTests {
    @Test func aURLIsReplacedAndItsFateIsKept() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            let expires = store.now + .seconds(60)
            try store.index.servers.replaceURLLeases(
                lease, resource.id, urls: ["http://127.0.0.1/x", "http://127.0.0.2/x"], expires: expires, now: store.now
            )
            let urls = try store.index.servers.urlLeases(resource.id)
            #expect(urls.map(\.expires) == [expires, expires])
            try store.index.servers.setURLLease(urls[0].id, state: .disagrees, rank: 5)
            let after = try store.index.servers.urlLeases(resource.id)
            #expect(after.map(\.url) == ["http://127.0.0.2/x", "http://127.0.0.1/x"])
            #expect(after.map(\.state) == [.usable, .disagrees])
        }
    }

    @Test func theLatestHundredAttemptsAreKept() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            let other = try store.add("b")
            var attempt = Attempt(at: store.now, origin: "http://127.0.0.1", decision: "retry")
            try store.index.servers.record(attempt, content: other, resource: nil)
            for number in 0..<130 {
                attempt.bytes = Int64(number)
                try store.index.servers.record(attempt, content: lease.content, resource: nil)
            }
            let kept = try store.queries().attempts(try ContentKey("a"), limit: 1_000)
            #expect(kept.map { Int($0.bytes) } == Array((30..<130).reversed()))
            #expect(try store.queries().attempts(try ContentKey("a"), limit: 2).map(\.bytes) == [129, 128])
            #expect(try store.queries().attempts(try ContentKey("b"), limit: 9).count == 1)
        }
    }

    @Test func anAttemptComesBackAsItWas() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            var attempt = Attempt(at: store.now, origin: "http://127.0.0.1:81", decision: "wait")
            attempt.duration = .milliseconds(1_234)
            attempt.status = 503
            attempt.curlCode = 18
            attempt.bytes = 17
            attempt.rangeFirst = 5
            attempt.rangeCount = 100
            attempt.detail = "the server asks to wait"
            try store.index.servers.record(attempt, content: lease.content, resource: resource.id)
            #expect(try store.queries().attempts(try ContentKey("a"), limit: 1) == [attempt])
            try store.index.servers.record(attempt, content: ContentID(999), resource: ResourceID(999))
            try store.index.servers.record(attempt, content: lease.content, resource: ResourceID(999))
            #expect(try store.queries().attempts(try ContentKey("a"), limit: 9).count == 2)
        }
    }

    @Test func whatAServerAskedForIsRememberedAcrossRuns() throws {
        try StoreFixture.with { store in
            let wait = store.now + .seconds(90)
            var origin = OriginRecord(origin: "http://127.0.0.1", limit: 4, waitUntil: wait, waitSet: store.now)
            try store.index.servers.setOrigin(origin, now: store.now)
            let other = try store.another().index
            #expect(try other.servers.origin("http://127.0.0.1") == origin)
            origin.limit = 2
            origin.waitUntil = nil
            origin.waitSet = nil
            try other.servers.setOrigin(origin, now: store.now)
            #expect(try store.queries().origin("http://127.0.0.1") == origin)
            #expect(try store.index.servers.origin("http://127.0.0.9") == nil)
        }
    }

    @Test func aSettingIsStoredReplacedAndDeleted() throws {
        try StoreFixture.with { store in
            #expect(try store.index.settings.value(of: "paused") == nil)
            try store.index.settings.set("paused", "1")
            try store.index.settings.set("paused", "0")
            #expect(try store.index.settings.value(of: "paused") == "0")
            try store.index.settings.set("paused", nil)
            #expect(try store.index.settings.value(of: "paused") == nil)
        }
    }

    @Test func aCommitElsewhereIsNoticed() throws {
        try StoreFixture.with { store in
            let queries = try store.queries()
            let before = try queries.dataVersion()
            let own = try store.index.dataVersion()
            try store.index.settings.set("a", "b")
            #expect(try queries.dataVersion() != before)
            #expect(try store.index.dataVersion() == own)
        }
    }

    @Test func aRunIsSummedUp() throws {
        try StoreFixture.with { store in
            try store.completed("done")
            let (lease, _, resource) = try store.planned("half")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks(0..<5), bytes: 5_000, now: store.now)
            try store.add("new")
            let summary = try store.index.owners.summary(store.run)
            #expect(summary.counts == [.completed: 1, .queued: 2])
            #expect(summary.committedBytes == 14_500)
            #expect(summary.bytesTotal == 19_000)
            #expect(summary.stops.isEmpty)
        }
    }
}
