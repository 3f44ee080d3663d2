import LectureModel
import Testing

@testable import LectureKit

/// What a stream remembers of its request, its tries and its readers.
struct StreamStateTests {
    @Test func `a URL is renewed and a version accepted three times, until a block arrives`() {
        var tries = StreamTries()
        let renewals = (1...4).map { _ in tries.renew() }
        #expect(renewals == [true, true, true, false])
        tries.gotBytes()
        let early = tries.renew()
        #expect(!early, "bytes are not a block")
        tries.gotBlock()
        let again = tries.renew()
        let changes = (1...4).map { _ in tries.change() }
        #expect(again && changes == [true, true, true, false])
        tries.gotBlock()
        let late = tries.change()
        #expect(!late, "versions are counted for the whole stream")
    }

    @Test func `failures count in a row`() {
        var tries = StreamTries()
        for _ in 0..<3 { tries.failed() }
        #expect(tries.failures == 3)
        tries.gotBytes()
        #expect(tries.failures == 0)
    }

    @Test func `redirects count for one request, and only lead to what is allowed from its URL`() throws {
        var request = StreamRequest()
        request.sent(TransferID(1), to: "https://a.example/v")
        var followed = 0
        while followed < 100, (try? request.follow("https://b.example/v")) != nil { followed += 1 }
        #expect(followed == 10)
        request.forgetRedirects()
        try request.follow("https://b.example/v")
        #expect(throws: LectureError.self) { try request.follow("http://b.example/v") }
        let (running, none) = (request.stop(), request.stop())
        #expect(running == TransferID(1) && none == nil && request.collector == nil)
    }

    @Test func `reads take turns, and a cancelled one is passed over`() async throws {
        var turns = ReadTurns()
        let first = turns.take()
        let (second, third) = (turns.take(), turns.take())
        #expect(first == nil)
        turns.forget(try #require(second))
        turns.give()
        try await #require(third).value()
        turns.give()
        let free = turns.take()
        #expect(free == nil, "the turn is free again")
    }

    @Test func `what a read has returned is not forgotten by the next one`() {
        var returns = StreamReturns()
        returns.returned()
        returns.began()
        #expect(returns.any && !returns.current)
    }
}
