import LectureFormats
import LectureLicence
import LectureModel
import LectureStore
import LectureTestSupport
import Testing

/// The events of exchanges: each once, of every kind, and an order to delete once it was carried out.
struct EngineExchangeTests {
    private func deleting(_ names: Set<String>) -> @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction {
        { request, _ in
            let answers = request.items.map { item in
                let name = item["media_content_key"]?.string ?? ""
                return FakeServer.answer(
                    name, kind: request.kind, #""result":1,"content_delete":\#(names.contains(name) ? 1 : 0)"#,
                    session: item["session_key"]?.string)
            }
            return .payload(#"{"data":[\#(answers.joined(separator: ","))]}"#)
        }
    }

    /// The names of the relevant events and of the stop, in order.
    private func story(_ world: LicenceWorld) -> [String] {
        world.notices.compactMap { notice in
            switch notice {
            case .event(.licenceExchange(let exchange)): "exchange \(exchange.kind)"
            case .event(.licenceDeleted(let key)): "deleted \(key.text)"
            case .event(.trouble(let error)), .failure(let error): "\(error.code.name) \(error.detail)"
            case .stopped: "stopped"
            default: nil
            }
        }
    }

    /// Time passes in steps, as for a timer.
    private func pass(_ world: LicenceWorld, _ duration: Duration) {
        let end = world.clock.boot() + duration
        while world.clock.boot() < end {
            world.clock.advance(to: min(end, world.clock.boot() + .milliseconds(500)))
            world.settle(for: .zero)
        }
    }

    @Test(arguments: [ServerAction.payload(""), .failure(curl: 7), .body("", status: 500), .body("x"), .body("")])
    func `every kind is published once per request, also when it fails`(action: ServerAction) throws {
        let world = try LicenceWorld { $0.attempts = 1 }
        if case .payload = action {} else { world.server.behave { _, _ in action } }
        let (content, key) = try world.waiting("g")
        world.engine.grant(content, key: key)
        #expect(world.run { $0.grants.count == 1 })
        #expect(world.exchanges.map(\.kind) == [1])
        try world.licensed("c")
        world.engine.check(ContentKey(stored: "c"), within: .seconds(30))
        #expect(world.run { $0.checks.count == 1 })
        let done = try world.licensed("d")
        try world.change { try $0.completed(done, now: world.clock.now(), in: $1) }
        let count = world.server.requests.count
        #expect(world.run { $0.server.requests.count > count && $0.exchanges.count == $0.server.requests.count })
        #expect(Set(world.exchanges.map(\.kind)) == [1, 2, 3])
        world.settle()
        #expect(world.exchanges.count == world.server.requests.count)
        for exchange in world.exchanges {
            let items = try JSONScanner.value(of: exchange.items).elements
            #expect(items?.count == 1 && items?[0]["kind"]?.integer == Int64(exchange.kind))
            #expect(items?[0]["player_id"]?.string == "player" && items?[0]["session_key"] == nil)
            #expect((exchange.answer == nil) == (exchange.error != nil))
            let answer = try exchange.answer.map { try JSONScanner.value(of: $0) }
            #expect(answer?["data"]?.elements?[0]["session_key"] == nil)
            #expect(answer.map { $0["data"]?.elements?.count == 1 } ?? true)
        }
    }

    @Test func `a deletion order is published when the lecture is gone`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("d")
        world.server.behave(deleting(["d"]))
        #expect(try world.renew().failed == 1)
        pass(world, .seconds(9))
        #expect(story(world).isEmpty)
        world.engine.contentRemoved(key)
        world.settle()
        #expect(story(world) == ["exchange 3", "deleted d"])
        world.settle(for: .seconds(60))
        #expect(world.exchanges.count == 1)
    }

    @Test func `several lectures are all gone before the exchange is published, and others do not wait`() throws {
        let world = try LicenceWorld()
        try world.licensed((0..<20).map { "d\($0)" })
        world.server.behave(deleting(["d3", "d4"]))
        #expect(try world.renew().total == 20)
        // The other ten are reported at once.
        #expect(story(world) == ["exchange 3"])
        world.engine.contentRemoved(ContentKey(stored: "d3"))
        world.settle()
        #expect(story(world) == ["exchange 3", "deleted d3"])
        world.engine.contentRemoved(ContentKey(stored: "d4"))
        world.settle()
        #expect(story(world) == ["exchange 3", "deleted d3", "exchange 3", "deleted d4"])
    }

    @Test func `a lecture that cannot be removed delays its exchange by ten seconds at most`() throws {
        let world = try LicenceWorld()
        try world.licensed(["d", "e"])
        world.server.behave(deleting(["d", "e"]))
        _ = try world.renew()
        let started = world.clock.boot()
        #expect(world.run(for: .seconds(60)) { !story($0).isEmpty })
        let waited = world.clock.boot() - started
        #expect(waited > .milliseconds(9000) && waited <= .milliseconds(10_001))
        #expect(story(world) == ["removal_waits d", "removal_waits e", "exchange 3"])
        // A later removal is reported by its own notice.
        world.engine.contentRemoved(ContentKey(stored: "e"))
        world.settle(for: .seconds(60))
        #expect(story(world).suffix(2) == ["exchange 3", "deleted e"] && world.exchanges.count == 1)
    }

    @Test func `as long as lectures are being removed, the exchange waits for the others`() throws {
        let world = try LicenceWorld()
        let names = (0..<5).map { "d\($0)" }
        try world.licensed(names)
        world.server.behave(deleting(Set(names)))
        _ = try world.renew()
        for name in names.dropLast() {
            pass(world, .seconds(8))
            world.engine.contentRemoved(ContentKey(stored: name))
        }
        pass(world, .seconds(8))
        #expect(story(world) == names.dropLast().map { "deleted \($0)" })
        world.engine.contentRemoved(ContentKey(stored: "d4"))
        world.settle()
        #expect(story(world).suffix(2) == ["exchange 3", "deleted d4"])
    }

    @Test func `a lecture that is no longer in the store is reported at once`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("d")
        world.contents.ids[key] = nil
        world.server.behave(deleting(["d"]))
        _ = try world.renew()
        #expect(story(world) == ["exchange 3", "deleted d"])
    }

    @Test func `a stopping engine publishes the exchanges it held back`() throws {
        let world = try LicenceWorld()
        try world.licensed("d")
        world.server.behave(deleting(["d"]))
        _ = try world.renew()
        world.engine.stop()
        world.settle()
        #expect(story(world) == ["exchange 3", "stopped"])
    }
}
