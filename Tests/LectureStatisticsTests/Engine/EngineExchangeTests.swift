import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// The events of requests: each once, with request and answer, and none without a listener.
struct EngineExchangeTests {
    private func world(
        target: ReportRecord.Target = .init(url: SendWorld.url, format: .json),
        _ configure: @escaping @Sendable (inout TargetSettings) -> Void = { _ in }
    ) throws -> SendWorld {
        let world = try SendWorld(target: target, configure)
        world.listens.withLock { $0 = true }
        return world
    }

    @Test(arguments: AnswerRow.all.filter { !$0.name.hasPrefix("307") })
    func `every answered or failed request is published once`(row: AnswerRow) throws {
        let world = try world()
        try world.add("a")
        world.lms.behave { _, _ in row.action }
        try world.send()
        let exchanges = world.process.exchanges
        #expect(exchanges.count == world.lms.requests.count)
        #expect(exchanges.allSatisfy { $0.url == SendWorld.url && $0.reports == ["a"] && $0.data == [#"{"n":1}"#] })
        #expect(exchanges.allSatisfy { $0.isDelivered == (row.state == .delivered) })
        switch row.action.answer {
        case .whole(let status, _, let body), .half(let status, _, let body):
            #expect(exchanges.allSatisfy { $0.status == status })
            if case .whole = row.action.answer {
                #expect(
                    exchanges.allSatisfy { $0.answer == (body.isEmpty ? nil : String(decoding: body, as: UTF8.self)) })
            }
        case .failure: #expect(exchanges.allSatisfy { $0.status == nil && $0.answer == nil })
        }
    }

    @Test func `a redirect that is followed belongs to its request`() throws {
        let world = try world()
        try world.add("a")
        world.lms.behave { request, _ in
            request.url.hasSuffix("/new") ? .good : .answer(308, headers: [("Location", "https://lms.example/new")])
        }
        #expect(try world.send().requests == 2)
        #expect(world.process.exchanges.map(\.status) == [200])
        #expect(world.process.exchanges.first?.url == SendWorld.url)
    }

    @Test func `a batch of 500 is one exchange, in its order`() throws {
        let world = try world { $0.limits.count = 500 }
        let ids = try world.add(500)
        #expect(try world.send().delivered == 500)
        let exchanges = world.process.exchanges
        #expect(exchanges.count == 1 && exchanges[0].reports == ids && exchanges[0].data.count == 500)
        #expect(exchanges[0].isDelivered && exchanges[0].answer == #"{"ok":true}"#)
        // It was read once, to be sent.
        #expect(world.process.faults.read == 500)
    }

    @Test func `a refused batch is published with the halves it was divided into`() throws {
        let world = try world { $0.limits.count = 500 }
        try world.add(500)
        world.lms.behave { request, _ in request.events.contains("r249") ? .answer(422, "no") : .good }
        #expect(try world.send().refused == 1)
        let exchanges = world.process.exchanges
        #expect(exchanges.count == world.lms.requests.count)
        let delivered = exchanges.filter(\.isDelivered).flatMap(\.reports)
        #expect(delivered.count == 499 && Set(delivered).count == 499)
        #expect(exchanges.filter { !$0.isDelivered }.allSatisfy { $0.reports.contains("r249") && $0.answer == "no" })
        #expect(exchanges.allSatisfy { $0.reports.count == $0.data.count })
    }

    @Test func `nothing is published and nothing read without a subscriber`() throws {
        let silent = try SendWorld { $0.limits.count = 50 }
        try silent.add(200)
        #expect(try silent.send().delivered == 200)
        #expect(silent.process.exchanges.isEmpty && silent.process.faults.read == 200)
    }

    @Test func `requests of a crashed program and from before a subscription are read for a subscriber`() throws {
        let world = try SendWorld { $0.limits.count = 50 }
        let ids = try world.add(50)
        world.lms.behave { _, _ in .failure(56) }
        try world.send()
        try world.restart()
        world.listens.withLock { $0 = true }
        world.lms.behave { _, _ in .good }
        #expect(try world.send().delivered == 50)
        let exchanges = world.process.exchanges
        #expect(
            exchanges.count == 1 && exchanges[0].reports == ids && exchanges[0].data.count == 50
                && exchanges[0].isDelivered)
    }

    @Test func `an answer that was not stored is not published, and one that was is published once`() throws {
        for seed in 1...20 {
            let world = try SendWorld(seed: UInt64(seed)) { $0.limits.count = 10 }
            world.listens.withLock { $0 = true }
            try world.add(100)
            world.process.faults.failures = 30
            world.begin()
            world.run(for: .seconds(600)) { $0.process.faults.failed > 5 }
            world.process.faults.failures = 0
            try world.send { $0.longestWait = .seconds(700) }
            try world.send { $0.longestWait = .seconds(700) }
            let delivered = world.process.exchanges.filter(\.isDelivered).flatMap(\.reports)
            #expect(delivered.count == 100 && Set(delivered).count == 100, "seed \(seed)")
            #expect(try world.count(.delivered) == 100)
        }
    }

    @Test func `an exchange is published before its effects`() throws {
        let world = try world()
        try world.add("a")
        world.lms.answer(422)
        try world.send()
        let names = world.process.notices.compactMap { notice -> String? in
            switch notice {
            case .event(.reportExchange): "exchange"
            case .event(.reportRefused): "refused"
            case .ended: "ended"
            default: nil
            }
        }
        #expect(names == ["exchange", "refused", "ended"])
    }

    // MARK: Formats and texts

    @Test(arguments: [ReportFormat.kollus, .json, .xapi])
    func `every format publishes the stored document`(format: ReportFormat) throws {
        let world = try world(target: .init(url: SendWorld.url, format: format))
        let document = #"{"user_info":{"client_user_id":"kim"},"content_info":{"start_at":7,"playtime":30}}"#
        try world.add("a", values: try JSONScanner.value(of: document))
        world.lms.behave { _, _ in .answer(200, #"{"ok":true}"#) }
        #expect(try world.send().delivered == 1)
        #expect(world.process.exchanges.map(\.data) == [[document]])
        #expect(world.process.exchanges[0].answer == #"{"ok":true}"#)
    }

    @Test func `single values are published as the document that goes to a channel`() throws {
        let world = try world(target: .init(url: SendWorld.url, format: .kollus))
        let values = #"{"CLIENT_USER_ID":"lee","PLAY_TIME":30}"#
        try world.add("a", values: try JSONScanner.value(of: values))
        try world.send()
        let text = try #require(world.process.exchanges.first?.data.first)
        let document = try JSONScanner.value(of: text)
        #expect(document["user_info"]?["client_user_id"]?.string == "lee")
        #expect(document["content_info"]?["playtime"]?.integer == 30)
    }

    private static let korean: [UInt8] = Array(#"{"메시지":"완료"}"#.utf8)

    private static func utf16(_ text: String, lowFirst: Bool) -> [UInt8] {
        text.utf16.flatMap { unit in
            let bytes = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
            return lowFirst ? bytes : bytes.reversed()
        }
    }

    @Test(
        arguments: [
            ([], nil), (korean, #"{"메시지":"완료"}"#), ([0xEF, 0xBB, 0xBF] + korean, #"{"메시지":"완료"}"#),
            ([0xFF, 0xFE] + utf16(#"{"a":"완"}"#, lowFirst: true), #"{"a":"완"}"#),
            (utf16(#"{"a":1}"#, lowFirst: false), #"{"a":1}"#),
            // EUC-KR, undeclared.
            (Array(#"{"a":""#.utf8) + [0xBF, 0xCF] + Array(#""}"#.utf8), #"{"a":"??"}"#),
        ] as [([UInt8], String?)])
    func `the body is published as text, whatever its encoding is`(body: [UInt8], text: String?) throws {
        let world = try world { $0.form = .anything }
        try world.add("a")
        world.lms.behave { _, _ in LMSAction(answer: .whole(200, [], body), takesEffect: true) }
        try world.send()
        #expect(world.process.exchanges.map(\.answer) == [text])
    }

    @Test(arguments: [65_535, 65_536, 65_537, 200_000])
    func `a long body is published as far as it was read, without a split character`(count: Int) throws {
        let world = try world { $0.form = .anything }
        try world.add("a")
        // Characters of three bytes: 65,536 is no multiple of three.
        let body = Array(String(repeating: "강", count: count / 3 + 1).utf8.prefix(count))
        world.lms.behave { _, _ in LMSAction(answer: .whole(200, [], body), takesEffect: true) }
        try world.send()
        let answer = try #require(world.process.exchanges.first?.answer)
        #expect(answer.utf8.count <= AnswerJudge.bodyLimit && answer.utf8.count > min(count, 65_536) - 3)
        #expect(answer.allSatisfy { $0 == "강" })
    }
}
