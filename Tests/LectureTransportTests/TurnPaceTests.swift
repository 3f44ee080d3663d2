import Testing

@testable import LectureTransport

/// Whether turns wait for more bytes.
struct TurnPaceTests {
    private static let packet = 1448
    private static let buffer = 1024 * 1024
    private static let far = Duration.milliseconds(20)

    @Test(arguments: [
        // (bytes of each turn, exchanges, time of an answer, what later turns wait)
        (packet, 8, far, TurnPace.longest), (packet, TurnPace.manyExchanges, far, TurnPace.longest),
        (packet, 8, .seconds(1), TurnPace.longest), (packet, 8, .milliseconds(15), .microseconds(1500)),
        (packet, 8, .milliseconds(10), TurnPace.shortest), (packet, 8, .microseconds(9990), nil),
        (packet, TurnPace.manyExchanges - 1, far, nil), (buffer, 8, far, nil), (Int(TurnPace.enough), 64, far, nil),
        (0, 8, far, nil), (packet, 8, nil, nil),
    ])
    func `turns with few bytes of many exchanges with far servers wait`(
        bytes: Int, running: Int, answer: Duration?, wait: Duration?
    ) {
        var pace = TurnPace()
        if let answer { pace.answered(after: answer) }
        let waits = (0..<100).map { _ in pace.wait(after: bytes, running: running) }
        #expect(waits.last == wait)
    }

    @Test func `turns wait no longer once each has many bytes`() {
        var pace = TurnPace()
        pace.answered(after: Self.far)
        func waits(_ bytes: Int, _ turns: Int) -> [Duration?] {
            (0..<turns).map { _ in pace.wait(after: bytes, running: 8) }
        }
        #expect(waits(Self.packet, 100).last == TurnPace.longest)
        // One large turn among many is no other server.
        #expect(waits(Self.buffer, 1) == [TurnPace.longest])
        #expect(waits(Self.buffer, 8).last == .some(nil))
        // A turn without bytes says nothing.
        #expect(waits(0, 1) == [nil] && waits(Self.buffer, 1) == [nil])
    }

    @Test func `a server that was slow once is not far`() {
        var pace = TurnPace()
        func wait(after answers: [Duration]) -> Duration? {
            for answer in answers { pace.answered(after: answer) }
            return (0..<100).map { _ in pace.wait(after: Self.packet, running: 8) }[99]
        }
        #expect(wait(after: [.seconds(2), .milliseconds(1)]) == nil)
        #expect(wait(after: Array(repeating: .milliseconds(100), count: 4)) == nil)
        #expect(wait(after: Array(repeating: .milliseconds(100), count: 100)) == TurnPace.longest)
    }
}
