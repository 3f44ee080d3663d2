import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Two processes do random things; after every step the store must keep its invariants.
@Suite struct RandomWalkTests {
    private struct Walker {
        let index: SQLiteDownloadIndex
        let owner: OwnerID
        let run: RunID
        var leases: [ContentLease] = []
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func theRulesHoldWhateverHappens(seed: UInt64) throws {
        try StoreFixture.with { store in
            var dice = SeededGenerator(seed: seed)
            let other = try store.another()
            let otherRun = try other.index.owners.beginRun(owner: other.owner, command: "", now: store.now)
            var walkers = [
                Walker(index: store.index, owner: store.owner, run: store.run),
                Walker(index: other.index, owner: other.owner, run: otherRun),
            ]
            for step in 0..<400 {
                store.now = store.now + .milliseconds(Int.random(in: 0...5_000, using: &dice))
                let mover = Int.random(in: 0...1, using: &dice)
                try take(&walkers[mover], store, &dice)
                if step.isMultiple(of: 20) {
                    #expect(try StoreMaintenance.check(store.location) == [], "seed \(seed), step \(step)")
                    let held = try store.index.connection.query(
                        "SELECT id, lease_fence, lease_owner FROM content WHERE lease_owner IS NOT NULL"
                    ) { (ContentLease(content: $0.id(0), fence: $0.int64(1)), OwnerID($0.int64(2))) }
                    for (lease, owner) in held {
                        let holder = try #require(walkers.first { $0.owner == owner })
                        #expect(holder.leases.contains(lease), "seed \(seed), step \(step)")
                    }
                }
            }
        }
    }

    private func take(_ walker: inout Walker, _ store: StoreFixture, _ dice: inout SeededGenerator) throws {
        let now = store.now
        let name = "k\(Int.random(in: 0..<12, using: &dice))"
        let key = try ContentKey(name)
        switch Int.random(in: 0..<10, using: &dice) {
        case 0, 1:
            var request = DownloadRequest(url: "http://127.0.0.1/\(name)")
            request.priority = Int.random(in: -2...2, using: &dice)
            let register = { [index = walker.index] in
                try index.requests.enqueue(
                    request, source: RequestSource(derivedKey: key, identity: Array(name.utf8), isGateway: false),
                    check: .list, now: now
                ).id
            }
            do { try walker.index.owners.join(walker.run, content: try register()) } catch let error as LectureError {
                // Only a lecture that another process is removing may be refused.
                #expect(error.code == .storeBusy)
            }
        case 2, 3:
            let count = Int.random(in: 1...3, using: &dice)
            let items = try walker.index.owners.claim(run: walker.run, owner: walker.owner, limit: count, now: now)
            walker.leases += items.map(\.lease)
        case 4:
            let targetState = try #require(TargetState.allCases.randomElement(using: &dice))
            _ = try walker.index.targets.setTargetState(key, targetState, now: now)
        case 5:
            _ = try walker.index.targets.move(key, before: nil, toEnd: Bool.random(using: &dice))
            _ = try walker.index.targets.setPriority(key, Int.random(in: -2...2, using: &dice))
        case 6:
            _ = try walker.index.owners.requeueDue(run: walker.run, now: now)
            for content in try walker.index.contents.contentsToRemove(limit: 1) {
                if let item = try walker.index.owners.claim(content: content, owner: walker.owner, now: now) {
                    walker.leases.append(item.lease)
                }
            }
        default:
            guard let lease = walker.leases.randomElement(using: &dice) else { return }
            do { try work(lease, walker.index, now, &dice) } catch let error as LectureError {
                #expect(error.code == .leaseLost)
            }
        }
    }

    /// A step of a lease's holder, as the engine would continue from the lecture's state.
    private func work(
        _ lease: ContentLease, _ index: SQLiteDownloadIndex, _ now: Timestamp, _ dice: inout SeededGenerator
    ) throws {
        guard let item = try index.contents.item(lease.content) else { throw LectureError(.leaseLost) }
        if item.targetState == .remove {
            try index.contents.setStatus(lease, ItemStatus(.removing), now: now)
            return try index.contents.deleteContent(lease)
        }
        if Int.random(in: 0..<6, using: &dice) == 0 {
            let reason = StopReason.allCases.randomElement(using: &dice)
            let wait = now + .milliseconds(Int.random(in: 0...20_000, using: &dice))
            if item.content.state != .completed {
                let status = ItemStatus(.stopped, stopReason: reason, attempts: 1, nextAttempt: wait, waitSet: now)
                try index.contents.setStatus(lease, status, now: now)
            }
            return try index.owners.release(lease)
        }
        if item.content.state == .completed { return try repair(lease, item, index, now) }
        guard let building = try index.versions.building(lease.content) else {
            _ = try index.versions.beginVersion(
                lease, requests: [ResourceRequest(role: .media, name: "", urls: [])], now: now)
            return
        }
        var resource = try #require(building.resources.first)
        if resource.total == nil {
            (resource.state, resource.path, resource.total) = (.planned, "media/\(lease.content.value)", 4_500)
            resource.chunkBytes = 1_000
            return try index.resources.updateResource(lease, resource)
        }
        if resource.committedChunks == 5 {
            return try index.versions.completeVersion(lease, building.version, sha256: nil, now: now)
        }
        switch Int.random(in: 0..<5, using: &dice) {
        case 0: _ = try index.versions.discardVersion(lease, building.version)
        case 1: try index.resources.markUncommitted(lease, resource.id, chunks: [0, 4], bytes: 1_500)
        default:
            let chunks = Set((0..<2).map { _ in Int.random(in: 0..<5, using: &dice) }).sorted()
            let bytes = chunks.reduce(0) { $0 + ($1 == 4 ? 500 : 1_000) }
            try index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks(chunks), bytes: UInt64(bytes), now: now)
        }
    }

    private func repair(
        _ lease: ContentLease, _ item: ItemRecord, _ index: SQLiteDownloadIndex, _ now: Timestamp
    ) throws {
        let version = try #require(item.currentVersion)
        let resource = try #require(try index.versions.resources(version).first)
        try index.transaction { _ in
            try index.resources.markUncommitted(lease, resource.id, chunks: [2], bytes: 1_000)
            try index.versions.reopenVersion(lease, version, now: now)
        }
    }
}
