import Foundation
import LectureCrypto
import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import LectureWebhooks
import Testing

@testable import LectureSQLite
@testable import LectureStore

/// The real machine, loop and store in virtual time, and a receiver that a test describes.
final class WebhookWorld {
    /// What reaches the receiver.
    struct Arrival: Equatable {
        let url: String
        let id: String
        let time: Int64
        let body: String
    }

    let directory: TemporaryDirectory
    let location: StoreLocation
    let index: SQLiteDownloadIndex
    let clock = VirtualClock()
    let random: SeededRandom
    let numbers = TransferNumbers()
    /// Answers a request: a status and `Retry-After`; nil cuts the connection.
    var answer: (Arrival) -> (status: Int, wait: String?)? = { _ in (204, nil) }
    private(set) var arrivals: [Arrival] = []
    /// The most requests of an endpoint that ran at once.
    private(set) var mostAtOnce = 0
    var secrets: @Sendable (String) throws(LectureError) -> Void = { _ in }

    init(seed: UInt64 = 1) throws {
        directory = try TemporaryDirectory.inMemory()
        location = StoreLocation(directory: directory.file("store"))
        index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1_700_000_000_000))
        random = SeededRandom(seed: seed)
        clock.setWall(Timestamp(milliseconds: 1_790_000_000_000))
    }

    var now: Timestamp { clock.now() }
    var rows: WebhookRows { index.webhooks }

    /// Makes endpoints.
    func follow(_ endpoints: [(String, [WebhookKind])]) throws {
        _ = try index.transaction { transaction in
            try transaction.index.webhooks.follow(endpoints.map { (url: $0.0, kinds: WebhookKinds($0.1)) })
        }
    }

    /// Adds a lecture that fails at once, which is an event.
    func fail(_ key: String) throws {
        try execute(
            """
            INSERT OR IGNORE INTO content(key, state, position, added_ms, updated_ms, is_gateway, source_identity,
                title, source_url) VALUES ('\(key)', 0, 0, 1, 1, 0, x'', 'T', 'http://x/')
            """)
        try execute("UPDATE content SET state = 0, error_code = NULL WHERE key = '\(key)'")
        try execute(
            """
            UPDATE content SET state = 6, error_code = -8404, updated_ms = \(now.milliseconds) WHERE key = '\(key)'
            """)
    }

    func execute(_ sql: String) throws { try index.connection.execute(sql) }

    func count(_ table: String, _ condition: String = "1") throws -> Int {
        try index.connection.first("SELECT count(*) FROM \(table) WHERE \(condition)", read: { $0.int(0) }) ?? -1
    }

    // MARK: A program

    /// Runs an order in a program of its own.
    ///
    /// - Parameters:
    ///   - limit: after how many requests the program is killed; nil lets it end.
    ///   - change: of the order.
    /// - Returns: the result; nil for a program that was killed.
    /// - Throws: `LectureError` of the store.
    @discardableResult
    func send(
        killedAfter limit: Int? = nil, _ change: (inout WebhookOrder) -> Void = { _ in }
    ) throws -> WebhookResult? {
        let owner = try index.owners.registerOwner(pid: 1, bootID: "b", command: "send", now: now)
        defer { try? index.owners.dismissOwner(owner, now: now) }
        let functions = WebhookFunctions { [secrets] url, _ throws(LectureError) in
            try secrets(url)
            return "v1,c2lnbmVk"
        }
        let loop = Loop(
            Loop.Ports(clock: clock, random: random, numbers: numbers) { [index] in try index.transaction($0) })
        let runner = Runner(
            WebhookMachine(owner: owner, store: "store", functions), environment: (), inbox: Inbox {})
        loop.add(runner)
        var order = WebhookOrder(id: 1)
        change(&order)
        runner.inbox.post(.send(order))
        var left = limit ?? .max
        for _ in 0..<100_000 {
            let next = loop.commit()
            let step = runner.take()
            for case .ended(_, let result) in step.notices { return result }
            var sent: [ExchangeRequest] = []
            for case .send(let request) in step.effects { sent.append(request) }
            mostAtOnce = max(mostAtOnce, sent.count)
            for request in sent {
                if left == 0 { return nil }
                left -= 1
                runner.inbox.post(.answered(request.id, reply(request)))
            }
            if left == 0 { return nil }
            if sent.isEmpty { clock.advance(to: try #require(next, "the machine waits for nothing")) }
        }
        Issue.record("the order does not end")
        return nil
    }

    private func reply(_ request: ExchangeRequest) -> ExchangeReply {
        let arrival = Arrival(
            url: request.url, id: request.headers["webhook-id"] ?? "",
            time: Int64(request.headers["webhook-timestamp"] ?? "") ?? 0,
            body: String(decoding: request.body?.bytes ?? [], as: UTF8.self))
        arrivals.append(arrival)
        guard let (status, wait) = answer(arrival) else {
            return ExchangeReply(
                head: nil, body: [], isLong: false,
                outcome: TransferOutcome(end: .failed(curl: 52, detail: "cut"), bodyBytes: 0, elapsed: .zero))
        }
        var fields = HeaderFields()
        if let wait { fields.append(HeaderField(name: "Retry-After", value: wait)) }
        return ExchangeReply(
            head: ResponseHead(status: status, fields: fields, receivedAt: now), body: [], isLong: false,
            outcome: TransferOutcome(end: .complete, bodyBytes: 0, elapsed: .zero))
    }

    func keys() -> [String] {
        arrivals.compactMap { arrival in
            (try? JSONScanner.value(of: Array(arrival.body.utf8)))?["data"]?["key"]?.string
        }
    }
}
