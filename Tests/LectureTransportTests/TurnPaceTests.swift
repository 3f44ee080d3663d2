import Testing

@testable import LectureTransport

/// Whether turns wait for more bytes.
struct TurnPaceTests {
    private static let packet = 1448
    private static let buffer = 128 * 1024

    @Test(arguments: [
        // (bytes of each turn, exchanges, whether later turns wait)
        (packet, 8, true), (packet, TurnPace.manyExchanges, true), (packet, TurnPace.manyExchanges - 1, false),
        (buffer, 8, false), (Int(TurnPace.enough), 64, false), (0, 8, false),
    ])
    func `turns with few bytes of many exchanges wait`(bytes: Int, running: Int, waits: Bool) {
        var pace = TurnPace()
        let verdicts = (0..<100).map { _ in pace.waits(after: bytes, running: running) }
        #expect(verdicts.last == waits)
    }

    @Test func `turns wait no longer once each has many bytes`() {
        var pace = TurnPace()
        func verdicts(_ bytes: Int, _ turns: Int) -> [Bool] {
            (0..<turns).map { _ in pace.waits(after: bytes, running: 8) }
        }
        #expect(verdicts(Self.packet, 100).last == true)
        // One large turn among many is no other server.
        #expect(verdicts(Self.buffer, 1) == [true])
        #expect(verdicts(Self.buffer, 8).last == false)
        // A turn without bytes says nothing.
        #expect(verdicts(0, 1) == [false] && verdicts(Self.buffer, 1) == [false])
    }
}
