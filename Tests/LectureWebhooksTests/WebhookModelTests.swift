import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureSQLite
@testable import LectureStore

/// What the rows of webhooks must be, kept in arrays.
struct WebhookModel {
    struct Delivery {
        let (id, event, happened): (Int64, Int64, Int64)
        let (kind, topic): (WebhookKind, String)
        var isDead = false
        var owner: OwnerID?
        var wait: Int64?
    }

    struct Endpoint {
        let url: String
        var kinds: [WebhookKind]
        var rows: [Delivery] = []
        var created = 0
        var delivered = 0
        var expired = 0

        var waiting: [Delivery] { rows.filter { !$0.isDead } }
    }

    var endpoints: [Endpoint] = []
    private var lastEvent: Int64 = 0
    private var lastRow: Int64 = 0

    mutating func happens(_ kind: WebhookKind, _ topic: String, at time: Int64) {
        guard endpoints.contains(where: { $0.kinds.contains(kind) }) else { return }
        lastEvent += 1
        for place in endpoints.indices where endpoints[place].kinds.contains(kind) {
            lastRow += 1
            endpoints[place].created += 1
            endpoints[place].rows.append(
                Delivery(id: lastRow, event: lastEvent, happened: time, kind: kind, topic: topic))
        }
    }

    /// The first of each topic that no owner holds and that waits no more.
    mutating func claim(_ place: Int, _ owner: OwnerID, _ limit: Int, at time: Int64) -> [Int64] {
        var (topics, claimed): (Set<String>, [Int64]) = ([], [])
        for row in endpoints[place].rows.indices where !endpoints[place].rows[row].isDead {
            let delivery = endpoints[place].rows[row]
            guard topics.insert(delivery.topic).inserted, delivery.owner == nil, delivery.wait ?? 0 <= time else {
                continue
            }
            if claimed.count == limit { break }
            endpoints[place].rows[row].owner = owner
            claimed.append(delivery.id)
        }
        return claimed
    }

    mutating func change(_ id: Int64, _ change: (inout Delivery) -> Void) {
        for place in endpoints.indices {
            for row in endpoints[place].rows.indices where endpoints[place].rows[row].id == id {
                change(&endpoints[place].rows[row])
            }
        }
    }

    mutating func arrives(_ id: Int64) {
        for place in endpoints.indices where endpoints[place].rows.contains(where: { $0.id == id }) {
            endpoints[place].delivered += 1
            endpoints[place].rows.removeAll { $0.id == id }
        }
    }

    mutating func expire(before time: Int64, limit: Int) -> Int {
        var count = 0
        for place in endpoints.indices {
            let rows = endpoints[place].rows
            var left = rows.filter { $0.owner != nil || $0.happened >= time }
            for delivery in left where left.count > limit && delivery.owner == nil {
                left.removeAll { $0.id == delivery.id }
            }
            endpoints[place].expired += rows.count - left.count
            count += rows.count - left.count
            endpoints[place].rows = left
        }
        return count
    }

    mutating func revive(_ place: Int) -> Int {
        let dead = endpoints[place].rows.count { $0.isDead }
        for row in endpoints[place].rows.indices {
            (endpoints[place].rows[row].isDead, endpoints[place].rows[row].wait) = (false, nil)
        }
        return dead
    }

    mutating func free(_ owner: OwnerID) {
        for id in endpoints.flatMap(\.rows).filter({ $0.owner == owner }).map(\.id) { change(id) { $0.owner = nil } }
    }
}

/// A store and its model, to which the same happens.
private final class WebhookHistory {
    let world: WebhookWorld
    var model = WebhookModel()
    var random: SeededGenerator
    private var owners: [OwnerID] = []
    private var reports = 0
    private static let outcomes: [(String, WebhookKind?)] = [
        ("refused", .licenceRefused), ("ended", .licenceEnded), ("deleted", .licenceDeleted), ("permitted", nil),
        ("missing", nil),
    ]

    init(seed: UInt64) throws {
        (world, random) = (try WebhookWorld(seed: seed), SeededGenerator(seed: seed))
        try world.execute(
            "INSERT INTO licence(id, content_key, mac, granted_ms, checked_ms) VALUES (1, 'k1', zeroblob(32), 5, 40)")
        try world.execute("INSERT INTO renewal_run(id, selection, begun_ms) VALUES (1, 'all', 1)")
        try world.execute("INSERT INTO renewal(run_id, licence_id, urgency_ms) VALUES (1, 1, 0)")
        try world.execute("INSERT INTO lms_lane(id, client_user_id, session) VALUES (1, 'kim', 's')")
        for _ in 0..<3 { try register() }
        try follow([
            ("https://a.example/", WebhookKind.allCases), ("https://b.example/", [.lectureFailed, .reportDead]),
        ])
    }

    private var time: Int64 { world.now.milliseconds }

    private func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private func register() throws {
        owners.append(try world.index.owners.registerOwner(pid: 1, bootID: "b", command: "", now: world.now))
    }

    private func follow(_ endpoints: [(String, [WebhookKind])]) throws {
        try world.follow(endpoints)
        model.endpoints.removeAll { known in !endpoints.contains { $0.0 == known.url } }
        for (url, kinds) in endpoints {
            if let place = model.endpoints.firstIndex(where: { $0.url == url }) {
                model.endpoints[place].kinds = kinds
            } else {
                model.endpoints.append(WebhookModel.Endpoint(url: url, kinds: kinds))
            }
        }
    }

    private func happen() throws {
        let key = "k\(number(0..<4))"
        switch number(0..<4) {
        case 0, 1:
            try world.fail(key)
            model.happens(.lectureFailed, key, at: time)
        case 2:
            let (outcome, kind) = Self.outcomes[number(0..<Self.outcomes.count)]
            try world.execute(
                """
                INSERT INTO licence_attempt(licence_id, at_ms, duration_ms, kind, outcome)
                VALUES (1, \(time - 30), 30, 1, '\(outcome)')
                """)
            try world.execute("UPDATE renewal SET state = 2")
            try world.execute("UPDATE renewal SET state = \(outcome == "permitted" ? 1 : 2)")
            if let kind { model.happens(kind, "k1", at: time) }
            if outcome == "permitted" { model.happens(.licenceRenewed, "k1", at: 40) }
        default:
            reports += 1
            let content = number(0..<3) == 0 ? "" : key
            try world.execute(
                """
                INSERT INTO report(lane_id, sequence, changed_ms, wall_ms, bytes, uuid, content, "values")
                VALUES (1, \(reports), 1, 1, 1, 'r\(reports)', '\(content)', '{}')
                """)
            try world.execute(
                "UPDATE report SET state = 3, dead_reason = 1, changed_ms = \(time) WHERE uuid = 'r\(reports)'")
            model.happens(.reportDead, content.isEmpty ? "r\(reports)" : content, at: time)
        }
    }

    /// Any delivery, claimed or not, and any owner: who is none changes nothing.
    private func answer() throws {
        let rows = model.endpoints.flatMap(\.rows)
        guard !rows.isEmpty else { return }
        let (row, owner) = (rows[number(0..<rows.count)], owners[number(0..<owners.count)])
        let id = WebhookDeliveryID(row.id)
        switch number(0..<4) {
        case 0:
            try world.rows.delivered(id, now: world.now)
            model.arrives(row.id)
        case 1:
            try world.rows.release(id, owner: owner)
            if row.owner == owner { model.change(row.id) { $0.owner = nil } }
        default:
            let event = WebhookEvent(id: row.event, kind: row.kind, happened: world.now)
            var settled = WebhookDelivery(id: id, endpoint: WebhookID(1), event: event)
            if number(0..<3) == 0 {
                settled.state = .dead
            } else if number(0..<2) == 0 {
                settled.wait = RetryWait(setAt: world.now, delay: .seconds(number(1..<40)))
            }
            try world.rows.settle(settled, owner: owner)
            guard row.owner == owner else { return }
            model.change(row.id) {
                ($0.owner, $0.isDead, $0.wait) = (nil, settled.state == .dead, settled.wait?.due.milliseconds)
            }
        }
    }

    private func upkeep() throws {
        switch number(0..<6) {
        case 0:
            let (age, limit) = (Int64(number(20..<200)) * 1000, number(4..<20))
            let before = Timestamp(milliseconds: time - age)
            let wanted = model.expire(before: before.milliseconds, limit: limit)
            let expired = try world.rows.expire(before: before, limit: limit)
            #expect(expired == wanted)
        case 1 where !model.endpoints.isEmpty:
            let place = number(0..<model.endpoints.count)
            let (wanted, endpoint) = (model.revive(place), try world.rows.endpoints()[place].id)
            let revived = try world.rows.revive(endpoint)
            #expect(revived == wanted)
        case 2:
            let owner = owners.remove(at: number(0..<owners.count))
            try world.index.owners.dismissOwner(owner, now: world.now)
            model.free(owner)
            try register()
        case 3 where number(0..<4) == 0:
            let kinds: [[WebhookKind]] = [WebhookKind.allCases, [.lectureFailed], [.licenceEnded, .reportDead]]
            let wanted = ["a", "b", "c"].filter { _ in number(0..<3) > 0 }
            try follow(wanted.map { ("https://\($0).example/", kinds[number(0..<3)]) })
        default: world.clock.setWall(world.now + .seconds(number(1..<30)))
        }
    }

    func step() throws {
        switch number(0..<10) {
        case 0..<4: try happen()
        case 4, 5:
            guard !model.endpoints.isEmpty else { return }
            let (place, owner, limit) = (number(0..<model.endpoints.count), owners[number(0..<3)], number(0..<5))
            let endpoint = try world.rows.endpoints()[place].id
            let claimed = try world.rows.claim(endpoint, owner: owner, limit: limit, now: world.now)
            let wanted = model.claim(place, owner, limit, at: time)
            #expect(claimed.map(\.id.value) == wanted)
        case 6..<9: try answer()
        default: try upkeep()
        }
    }

    func compare(_ name: Comment) throws {
        let entries = try world.rows.endpoints()
        #expect(entries.map(\.url) == model.endpoints.map(\.url), name)
        for (entry, wanted) in zip(entries, model.endpoints) {
            #expect(entry.created == entry.waiting + entry.dead + entry.delivered + entry.expired, name)
            #expect(
                (entry.created, entry.delivered, entry.expired) == (wanted.created, wanted.delivered, wanted.expired),
                name)
            #expect(
                entry.kinds.all == wanted.kinds && entry.oldestWaiting?.milliseconds == wanted.waiting.first?.happened,
                name)
            let (waiting, dead) = (
                try world.rows.deliveries(entry.id, in: .waiting, after: nil, limit: 1000),
                try world.rows.deliveries(entry.id, in: .dead, after: nil, limit: 1000)
            )
            #expect(entry.waiting == waiting.count && entry.dead == dead.count, name)
            #expect(waiting.map(\.id.value) == wanted.waiting.map(\.id), name)
            #expect(dead.map(\.id.value) == wanted.rows.filter(\.isDead).map(\.id), name)
            #expect(waiting.map(\.event.id) == wanted.waiting.map(\.event), name)
            #expect(waiting.map(\.event.kind) == wanted.waiting.map(\.kind), name)
            #expect(waiting.map { $0.wait?.due.milliseconds } == wanted.waiting.map(\.wait), name)
            let held = try world.count("webhook_delivery", "webhook_id = \(entry.id.value) AND owner_id IS NOT NULL")
            #expect(held == wanted.rows.count { $0.owner != nil }, name)
        }
        #expect(try world.count("webhook_event") == Set(model.endpoints.flatMap(\.rows).map(\.event)).count, name)
    }
}

struct WebhookModelTests {
    /// At every point what was made is what waits, is dead, has arrived or was given up.
    @Test(arguments: 0..<24) func `The rows are those of a model, whatever happens and in any order`(run: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        let history = try WebhookHistory(seed: seed)
        for number in 0..<150 {
            try history.step()
            try history.compare("seed \(seed), run \(run), step \(number)")
        }
        // Licences and reports were written without what else belongs to them.
        let findings = try StoreMaintenance.check(history.world.location).filter { $0.contains("webhook") }
        #expect(findings == [], "seed \(seed)")
    }
}
