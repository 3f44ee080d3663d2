import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct LeaseTests {
    @Test func aClaimTakesWhatIsDueInTheOrderOfTheQueue() throws {
        try StoreFixture.with { store in
            try store.add("a")
            try store.add("b") { $0.priority = 5 }
            try store.add("c")
            let first = try store.index.owners.claim(run: store.run, owner: store.owner, limit: 2, now: store.now)
            #expect(first.map(\.content.key.text) == ["b", "a"])
            #expect(first.allSatisfy { $0.fence == 1 })
            let second = try store.index.owners.claim(run: store.run, owner: store.owner, limit: 2, now: store.now)
            #expect(second.map(\.content.key.text) == ["c"])
            #expect(try store.index.owners.claim(run: store.run, owner: store.owner, limit: 2, now: store.now).isEmpty)
            #expect(try store.index.owners.claim(run: store.run, owner: store.owner, limit: 0, now: store.now).isEmpty)
        }
    }

    @Test func aClaimLooksOnlyAtItsOwnRun() throws {
        try StoreFixture.with { store in
            try store.add("mine")
            let other = try store.index.owners.beginRun(owner: store.owner, command: "other", now: store.now)
            #expect(try store.index.owners.claim(run: other, owner: store.owner, limit: 9, now: store.now).isEmpty)
        }
    }

    @Test func aRunBehindALongForeignQueueIsServed() throws {
        try StoreFixture.with { store in
            try store.index.transaction { _ in
                for number in 0..<300 { try store.add("foreign\(number)") }
            }
            let run = try store.index.owners.beginRun(owner: store.owner, command: "small", now: store.now)
            for name in ["x", "y"] { try store.index.owners.join(run, content: try store.add(name)) }
            #expect(try store.index.owners.hasQueued(run: run))
            let claimed = try store.index.owners.claim(run: run, owner: store.owner, limit: 5, now: store.now)
            #expect(claimed.map(\.content.key.text) == ["x", "y"])
            #expect(try !store.index.owners.hasQueued(run: run))
        }
    }

    @Test func anItemWaitsUntilItsTimeAndNoLongerThanItsWaitWhenTheClockGoesBack() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            let next = store.now + .seconds(60)
            try store.index.contents.setStatus(
                lease, ItemStatus(.queued, attempts: 2, nextAttempt: next, waitSet: store.now), now: store.now)
            try store.index.owners.release(lease)
            func claimable(at time: Timestamp) throws -> Bool {
                let items = try store.index.owners.claim(run: store.run, owner: store.owner, limit: 1, now: time)
                for item in items { try store.index.owners.release(item.lease) }
                return !items.isEmpty
            }
            #expect(try store.index.owners.nextDue(run: store.run) == next)
            #expect(try !claimable(at: store.now + .seconds(59)))
            #expect(try claimable(at: next))
            #expect(try !claimable(at: store.now + .seconds(-59)))
            #expect(try claimable(at: store.now + .seconds(-3600)))
        }
    }

    @Test func onlyOneOwnerHasAContent() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            let other = try store.another()
            #expect(try other.index.owners.claim(content: lease.content, owner: other.owner, now: store.now) == nil)
            #expect(try store.queries().leaseOwner(try ContentKey("a")) == store.owner)
            let owner = try #require(try store.queries().owners().first { $0.id == store.owner })
            #expect(owner.pid == 4711 && owner.leases == 1)
            #expect(try !store.index.owners.hasQueued(run: store.run))
            #expect(try store.index.owners.leasedElsewhere(run: store.run, owner: other.owner) == 1)
            #expect(try store.index.owners.leasedElsewhere(run: store.run, owner: store.owner) == 0)
            try store.index.owners.release(lease)
            #expect(try store.queries().leaseOwner(try ContentKey("a")) == nil)
            let next = try #require(
                try other.index.owners.claim(content: lease.content, owner: other.owner, now: store.now))
            #expect(next.fence == lease.fence + 1)
        }
    }

    @Test func anUnwantedLectureIsNotClaimed() throws {
        try StoreFixture.with { store in
            let id = try store.add("a")
            _ = try store.index.targets.setTargetState(try ContentKey("a"), .remove, now: store.now)
            #expect(try store.index.owners.claim(run: store.run, owner: store.owner, limit: 1, now: store.now).isEmpty)
            #expect(try store.index.owners.claim(content: id, owner: store.owner, now: store.now) != nil)
        }
    }

    @Test func whatADeadOwnerHadInFlightIsQueuedAgain() throws {
        try StoreFixture.with { store in
            let other = try store.another()
            let run = try other.index.owners.beginRun(owner: other.owner, command: "", now: store.now)
            for (name, state) in [("a", ItemState.loading), ("b", .downloading), ("c", .verifying), ("d", .removing)] {
                let id = try store.add(name)
                try other.index.owners.join(run, content: id)
                let item = try #require(try other.index.owners.claim(content: id, owner: other.owner, now: store.now))
                try other.index.contents.setStatus(item.lease, ItemStatus(state), now: store.now)
            }
            try store.index.owners.dismissOwner(other.owner, now: store.now)
            #expect(try store.index.owners.all() == [store.owner])
            let states = try ["a", "b", "c", "d"].map {
                try store.index.contents.item(try ContentKey($0))?.content.state
            }
            #expect(states == [.queued, .queued, .queued, .removing])
            #expect(
                try store.index.owners.claim(run: store.run, owner: store.owner, limit: 9, now: store.now).count == 3)
            #expect(lectureError { _ = try store.index.owners.summary(run) } == nil)
            #expect(try store.index.owners.summary(run).counts.isEmpty)
        }
    }

    @Test func anOwnerMayGiveAllItsLeasesBack() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            try store.index.contents.setStatus(lease, ItemStatus(.downloading), now: store.now)
            try store.index.owners.requeueLeases(of: store.owner, now: store.now)
            #expect(try store.item(lease.content).content.state == .queued)
            #expect(lectureError { try store.index.owners.release(lease) }?.code == .leaseLost)
            #expect(try store.index.owners.all() == [store.owner])
        }
    }

    /// Every write that takes a lease, with its effect on a lecture whose lease was lost.
    private static func writes(
        _ store: StoreFixture, _ old: ContentLease, _ version: VersionID, _ resource: ResourceRecord
    )
        -> [(String, () throws -> Void)]
    {
        let index = store.index
        let now = store.now
        let key = ContentKey(stored: "stolen")
        var facts = ContentFacts()
        facts.key = key
        return [
            ("release", { try index.owners.release(old) }),
            ("setStatus", { try index.contents.setStatus(old, ItemStatus(.downloading), now: now) }),
            ("setFacts", { _ = try index.contents.setFacts(old, facts, now: now) }),
            ("merge", { try index.contents.merge(old, into: old.content) }),
            ("deleteContent", { try index.contents.deleteContent(old) }),
            ("beginVersion", { _ = try index.versions.beginVersion(old, requests: [], now: now) }),
            ("discardVersion", { _ = try index.versions.discardVersion(old, version) }),
            ("updateResource", { try index.resources.updateResource(old, resource) }),
            (
                "markCommitted",
                {
                    try index.resources.markCommitted(
                        old, resource.id, StoreFixture.chunks([5]), bytes: 1_000, now: now)
                }
            ),
            ("markUncommitted", { try index.resources.markUncommitted(old, resource.id, chunks: [0], bytes: 1_000) }),
            ("completeVersion", { try index.versions.completeVersion(old, version, sha256: nil, now: now) }),
            ("reopenVersion", { try index.versions.reopenVersion(old, version, now: now) }),
            (
                "replaceURLLeases",
                { try index.servers.replaceURLLeases(old, resource.id, urls: ["x"], expires: nil, now: now) }
            ),
        ]
    }

    private func picture(_ store: StoreFixture) throws -> [String] {
        try ["content", "version", "resource", "chunk", "url_lease"].flatMap { table in
            let columns = try store.index.connection.query("SELECT name FROM pragma_table_info('\(table)')") {
                $0.text(0)
            }
            let row = columns.map { "quote(\($0))" }.joined(separator: " || '|' || ")
            return try store.index.connection.query("SELECT \(row) FROM \(table) ORDER BY 1") { $0.text(0) }
        }
    }

    @Test func aWriteWithAnOldFenceChangesNothing() throws {
        try StoreFixture.with { store in
            let (old, version, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                old, resource.id, StoreFixture.chunks([0, 1]), bytes: 2_000, now: store.now)
            try store.index.owners.release(old)
            let other = try store.another()
            _ = try #require(try other.index.owners.claim(content: old.content, owner: other.owner, now: store.now))
            let before = try picture(store)
            for (name, write) in Self.writes(store, old, version, resource) {
                #expect(lectureError(write)?.code == .leaseLost, "\(name)")
                #expect(try picture(store) == before, "\(name)")
            }
        }
    }

    @Test func aWriteAfterTheLeaseWasGivenBackChangesNothing() throws {
        try StoreFixture.with { store in
            let (old, version, resource) = try store.planned("a")
            try store.index.owners.release(old)
            let before = try picture(store)
            for (name, write) in Self.writes(store, old, version, resource) {
                #expect(lectureError(write)?.code == .leaseLost, "\(name)")
            }
            #expect(try picture(store) == before)
        }
    }

    @Test func stoppedItemsWhoseReasonPassesGoOnWhenTheirTimeHasCome() throws {
        try StoreFixture.with { store in
            let next = store.now + .seconds(10)
            for reason in StopReason.allCases {
                let lease = try store.leased(reason.name)
                let status = ItemStatus(.stopped, stopReason: reason, nextAttempt: next, waitSet: store.now)
                try store.index.contents.setStatus(lease, status, now: store.now)
                try store.index.owners.release(lease)
            }
            #expect(try store.index.owners.nextDue(run: store.run) == next)
            #expect(try store.index.owners.requeueDue(run: store.run, now: store.now) == 0)
            #expect(try store.index.owners.requeueDue(run: store.run, now: next) == 6)
            let summary = try store.index.owners.summary(store.run)
            #expect(summary.counts == [.queued: 6, .stopped: 2])
            #expect(summary.stops == [.user: 1, .licenceRefused: 1])
        }
    }

    @Test func anotherNetworkEndsTheWaitsThatABrokenOneHasCaused() throws {
        try StoreFixture.with { store in
            let next = store.now + .seconds(600)
            func wait(_ name: String, _ status: ItemStatus) throws {
                let lease = try store.leased(name)
                try store.index.contents.setStatus(lease, status, now: store.now)
                try store.index.owners.release(lease)
            }
            for reason in StopReason.allCases {
                try wait(
                    reason.name,
                    ItemStatus(.stopped, stopReason: reason, attempts: 5, nextAttempt: next, waitSet: store.now))
            }
            for (name, code) in [("unreachable", LectureError.Code.transfer(7)), ("busy", .status(503))] {
                try wait(
                    name,
                    ItemStatus(.queued, error: LectureError(code), attempts: 5, nextAttempt: next, waitSet: store.now))
            }
            #expect(try store.index.owners.endNetworkWaits(run: store.run, now: store.now) == 2)
            #expect(try store.index.owners.endNetworkWaits(run: store.run, now: store.now) == 0)
            let due = try store.index.owners.claim(run: store.run, owner: store.owner, limit: 10, now: store.now)
            #expect(Set(due.map(\.content.title)) == ["network", "unreachable"] || due.count == 2)
            #expect(due.allSatisfy { $0.content.attempts == 0 && $0.content.nextAttempt == nil })
            #expect(try store.index.owners.summary(store.run).stops[.serverWait] == 1)
        }
    }

    @Test func aQueuedItemWithoutAWaitIsDueSinceTheEpoch() throws {
        try StoreFixture.with { store in
            #expect(try store.index.owners.nextDue(run: store.run) == nil)
            try store.add("a")
            #expect(try store.index.owners.nextDue(run: store.run) == Timestamp(milliseconds: 0))
        }
    }

    @Test func aRunTakesWhatIsUnfinishedAndWanted() throws {
        try StoreFixture.with { store in
            for name in ["queued", "paused", "cancelled", "removed"] { try store.add(name) }
            try store.completed("done")
            _ = try store.index.targets.setTargetState(try ContentKey("paused"), .pause, now: store.now)
            _ = try store.index.targets.setTargetState(try ContentKey("cancelled"), .cancel, now: store.now)
            _ = try store.index.targets.setTargetState(try ContentKey("removed"), .remove, now: store.now)
            let run = try store.index.owners.beginRun(owner: store.owner, command: "resume", now: store.now)
            #expect(try store.index.owners.joinUnfinished(run) == 1)
            #expect(try store.index.owners.contents(run, state: .queued, limit: 9).map(\.key.text) == ["queued"])
        }
    }

    @Test func aRunBeginsAtTheHeadOfTheQueue() throws {
        try StoreFixture.with { store in
            for name in ["a", "b", "c", "d", "paused"] { try store.add(name) }
            _ = try store.index.targets.setTargetState(try ContentKey("paused"), .pause, now: store.now)
            #expect(try store.index.targets.setPriority(try ContentKey("c"), 7))
            let owners = store.index.owners
            let run = try owners.beginRun(owner: store.owner, command: "resume", now: store.now)
            #expect(try owners.joinHead(of: run, limit: 2) == 2)
            #expect(try owners.contents(run, state: .queued, limit: 9).map(\.key.text) == ["c", "a"])
            // The others follow in groups; what is in the run already is not counted again.
            let last = try owners.lastContent()
            #expect(try owners.joinUnfinished(run, ids: ContentID(0)...ContentID(last.value - 2)) == 1)
            #expect(try owners.joinUnfinished(run, ids: ContentID(last.value - 1)...last) == 1)
            #expect(try owners.contents(run, state: .queued, limit: 9).map(\.key.text) == ["c", "a", "b", "d"])
            #expect(try owners.joinHead(of: run, limit: 9) == 0)
        }
    }

    @Test func aLongRunIsFilledAfterItsHead() throws {
        try StoreFixture.with { store in
            try store.index.transaction { _ in
                for number in 0..<1200 { try store.add("n\(number)") }
            }
            let owners = store.index.owners
            let run = try owners.beginRun(owner: store.owner, command: "resume", now: store.now)
            var filling = try RunFilling(run, in: store.index)
            #expect(filling.count == 1000)
            // The first can be downloaded before the others are in the run.
            let claimed = try owners.claim(run: run, owner: store.owner, limit: 2, now: store.now)
            #expect(claimed.map(\.content.key.text) == ["n0", "n1"])
            #expect(try owners.summary(run).counts[.queued] == 1000)
            #expect(try filling.addGroup(in: store.index))
            #expect(filling.count == 1200)
            #expect(try owners.summary(run).counts[.queued] == 1200)
            #expect(try !filling.addGroup(in: store.index))
        }
    }

    @Test func changedTargetStatesOfLeasedContentsAreReported() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            _ = try store.leased("b")
            _ = try store.index.targets.setTargetState(try ContentKey("a"), .pause, now: store.now)
            let changed = try store.index.owners.changedTargetStates(owner: store.owner)
            #expect(changed.map(\.0) == [lease.content])
            #expect(changed.map(\.1) == [.pause])
        }
    }
}
