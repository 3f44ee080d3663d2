import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport

/// A licence server and a learning management system. Both are unreliable at first, and remember what they did.
final class PartnerServers {
    /// Where licences come from.
    static let licences = "http://drm.example/callback"
    /// Where reports go.
    static let reports = "http://lms.example/events"

    /// Reports that have arrived, and how often each of them took effect.
    private(set) var effects: [String: Int] = [:]
    /// The ids of requests that took effect.
    private var taken: Set<String> = []
    /// The bytes that came under each id of a request.
    private var bodies: [String: [UInt8]] = [:]
    private var requests = 0
    private let world: VirtualWorld
    /// Lectures whose licence was asked for in vain. While the breaker of the server is open, a grant fails without a
    /// request.
    private(set) var refusedLectures: Set<Int> = []

    init(_ world: VirtualWorld) { self.world = world }

    /// The answer to a request; nil for one to another server.
    func answer(to request: TransferRequest) -> Answer? {
        switch request.url {
        case Self.licences: licences(request)
        case Self.reports: reports(request)
        default: nil
        }
    }

    /// An accident of the network, or an overloaded server; nil for none. After some requests both are reliable.
    private func accident() -> Answer? {
        requests += 1
        guard requests <= 40, world.chance(25) else { return nil }
        switch world.some(0...3) {
        case 0: return .failure(7)
        case 1: return Answer(503)
        case 2:
            return Answer(429, ["Retry-After": "\(world.some(1...20))"])
        default: return .failure(56)
        }
    }

    // MARK: Licences

    private func licences(_ request: TransferRequest) -> Answer {
        guard let items = VirtualCallback.items(of: request) else {
            world.found("a licence server was sent something else")
            return Answer(400)
        }
        if let accident = self.accident() {
            for item in items {
                let key = item["media_content_key"]?.string ?? ""
                if let number = Int(key.dropFirst("lecture-".count)) { refusedLectures.insert(number) }
            }
            return accident
        }
        let token = VirtualCallback.sign(VirtualCallback.permit(items))
        return .document(String(decoding: token, as: UTF8.self), type: "text/plain")
    }

    // MARK: Reports

    private func reports(_ request: TransferRequest) -> Answer {
        let id = request.headers["Idempotency-Key"] ?? ""
        let body = request.body?.bytes ?? []
        if id.isEmpty { world.found("a report was sent without an id") }
        if let known = bodies[id], known != body { world.found("request \(id) was sent again with other bytes") }
        let accident = self.accident()
        // A connection that was refused has not sent anything.
        if accident?.fails == 7 { return accident ?? Answer(503) }
        bodies[id] = body
        // What took effect before the answer was lost does so once.
        if accident?.fails == 56 || accident == nil { take(body, id) }
        return accident ?? .document(#"{"ok":true}"#, type: "application/json")
    }

    private func take(_ body: [UInt8], _ id: String) {
        guard let value = try? JSONScanner.value(of: body) else { return world.found("request \(id) is not JSON") }
        let events = value["events"]?.elements?.compactMap { $0["event_id"]?.string } ?? [id]
        guard taken.insert(id).inserted else { return }
        for event in events { effects[event, default: 0] += 1 }
    }
}
