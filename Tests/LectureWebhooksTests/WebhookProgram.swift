import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import LectureWebhooks

@testable import LectureStore

/// A program with its own row at the store of a world, whose requests are answered when a test says so, in any order.
final class WebhookProgram {
    private let world: WebhookWorld
    private let loop: Loop
    private let runner: Runner<WebhookMachine>
    let owner: OwnerID
    /// Requests without an answer, the oldest first.
    private(set) var open: [ExchangeRequest] = []
    /// Requests that were cancelled.
    private(set) var cancelled: [TransferID] = []
    private(set) var results: [WebhookResult] = []
    private(set) var hasStopped = false

    init(_ world: WebhookWorld) throws {
        self.world = world
        owner = try world.index.owners.registerOwner(pid: 2, bootID: "b", command: "send", now: world.now)
        let functions = WebhookFunctions { _, _ throws(LectureError) in "v1,c2lnbmVk" }
        let ports = Loop.Ports(clock: world.clock, random: world.random, numbers: world.numbers) {
            [index = world.index] in
            try index.transaction($0)
        }
        loop = Loop(ports)
        runner = Runner(WebhookMachine(owner: owner, store: "store", functions), environment: (), inbox: Inbox {})
        loop.add(runner)
    }

    /// Accepts an order, and sends what may be sent.
    func send(_ change: (inout WebhookOrder) -> Void = { _ in }) {
        var order = WebhookOrder(id: 1)
        change(&order)
        runner.inbox.post(.send(order))
        step()
    }

    /// Answers the request about a lecture; nil cuts its connection.
    func answer(_ key: String, _ status: Int?, wait: String? = nil) {
        guard let place = open.firstIndex(where: { Self.key($0) == key }) else { return }
        answer(open.remove(at: place).id, status, wait: wait)
    }

    /// Answers a request, also one that runs no more.
    func answer(_ id: TransferID, _ status: Int?, wait: String? = nil) {
        var fields = HeaderFields()
        if let wait { fields.append(HeaderField(name: "Retry-After", value: wait)) }
        let head = status.map { ResponseHead(status: $0, fields: fields, receivedAt: world.now) }
        let end: TransferOutcome.End = head == nil ? .failed(curl: 56, detail: "cut") : .complete
        let outcome = TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero)
        runner.inbox.post(.answered(id, ExchangeReply(head: head, body: [], isLong: false, outcome: outcome)))
        step()
    }

    func stop() {
        runner.stop()
        step()
    }

    /// The lectures of the requests without an answer.
    var keys: [String] { open.map(Self.key) }

    private func step() {
        _ = loop.commit()
        let step = runner.take()
        for effect in step.effects {
            switch effect {
            case .send(let request): open.append(request)
            case .cancel(let ids): cancelled += ids
            }
        }
        for notice in step.notices {
            switch notice {
            case .ended(_, let result): results.append(result)
            case .stopped: hasStopped = true
            case .failure: break
            }
        }
    }

    private static func key(_ request: ExchangeRequest) -> String {
        (try? JSONScanner.value(of: request.body?.bytes ?? []))?["data"]?["key"]?.string ?? ""
    }
}
