import LectureModel
import LectureTestSupport
import Testing

@testable import LectureCommand

/// Opens once, for all who wait.
private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for one in waiting { one.resume() }
        waiting = []
    }

    func wait() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }
}

/// An input in pieces, which counts how far it has been read.
private actor Pieces {
    private var pieces: [[UInt8]]
    private let last: @Sendable () async throws -> Void
    private(set) var read = 0

    init(_ pieces: [String], last: @escaping @Sendable () async throws -> Void = {}) {
        (self.pieces, self.last) = (pieces.map { Array($0.utf8) }, last)
    }

    func next() async throws -> [UInt8]? {
        if pieces.isEmpty {
            try await last()
            return nil
        }
        read += 1
        return pieces.removeFirst()
    }
}

/// What was written.
private final class Output: Sendable {
    private let pieces = Guarded<[String]>([])

    func write(_ bytes: [UInt8]) { pieces.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }

    var all: [String] { pieces.withLock { $0 } }
}

@Suite(.timeLimit(.minutes(5))) struct LineWorkersTests {
    /// Each line with a mark; one that was too long as `?`.
    private static func mark(_ lines: [[UInt8]?]) -> [UInt8] {
        lines.flatMap { line in (line ?? [0x3F]) + [0x21, 0x0A] }
    }

    @Test func `answers are in the order of the lines, whichever is finished first`() async throws {
        let gate = Gate()
        let pieces = Pieces(["first\n", "second\n", "third\n"])
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1 << 20) { lines in
            // The first one is answered only after the last one, which another task must have begun by then.
            if lines == [Array("first".utf8)] { await gate.wait() }
            if lines == [Array("third".utf8)] { await gate.open() }
            return Self.mark(lines)
        }
        let output = Output()
        try await workers.run {
            try await pieces.next()
        } writing: {
            output.write($0)
        }
        #expect(output.all == ["first!\n", "second!\n", "third!\n"])
    }

    @Test func `lines that are read together are written together, wherever the pieces begin`() async throws {
        let pieces = Pieces(["a\nb\nc", "c\n", "d", "d", "d\n\n", "e"])
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1 << 20) { Self.mark($0) }
        let output = Output()
        try await workers.run {
            try await pieces.next()
        } writing: {
            output.write($0)
        }
        #expect(output.all == ["a!\nb!\n", "cc!\n", "ddd!\n!\n", "e!\n"])
    }

    @Test func `a line that is too long is answered in its place`() async throws {
        let pieces = Pieces(["a\n", String(repeating: "x", count: 101), "\nb\n", String(repeating: "y", count: 200)])
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1 << 20) { Self.mark($0) }
        let output = Output()
        try await workers.run {
            try await pieces.next()
        } writing: {
            output.write($0)
        }
        #expect(output.all.joined() == "a!\n?!\nb!\n?!\n")
    }

    @Test func `an input that pauses has all its answers`() async throws {
        let (answered, output) = (Gate(), Output())
        // The input goes on only when the line before has been answered; otherwise this test does not end.
        let pieces = Pieces(["a\nb\n"]) { await answered.wait() }
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1 << 20) { Self.mark($0) }
        try await workers.run {
            try await pieces.next()
        } writing: { bytes in
            output.write(bytes)
            Task { await answered.open() }
        }
        #expect(output.all == ["a!\nb!\n"])
    }

    @Test func `reading stops while the answers of what was read are not written`() async throws {
        let count = 200
        let pieces = Pieces((0..<count).map { "\($0)\n" })
        let (written, most) = (Guarded(0), Guarded(0))
        let ahead = 4
        let workers = LineWorkers(longestLine: 100, bytesAhead: ahead * LineWorkers.leastBytes) { lines in
            let lead = await pieces.read - written.withLock { $0 }
            most.withLock { $0 = max($0, lead) }
            return Self.mark(lines)
        }
        let output = Output()
        try await workers.run {
            try await pieces.next()
        } writing: { bytes in
            output.write(bytes)
            written.withLock { $0 += 1 }
        }
        #expect(output.all == (0..<count).map { "\($0)!\n" })
        // One more is read, which waits for room.
        #expect(most.withLock { $0 } <= ahead + 2)
    }

    @Test func `bytes are counted, and a long line is answered alone`() {
        var ahead = LookAhead(limit: 100)
        let first = [60, 40, 1].map { ahead.take($0) }
        #expect(first == [true, true, false] && ahead.held == 100)
        ahead.give(60)
        let second = [61, 60].map { ahead.take($0) }
        #expect(second == [false, true] && ahead.held == 100)
        ahead.give(40)
        ahead.give(60)
        let third = [1000, 1].map { ahead.take($0) }
        #expect(third == [true, false] && ahead.held == 1000)
        ahead.give(1000)
        #expect(ahead.held == 0)
    }

    @Test func `an input that fails is an error after the answers before it`() async throws {
        let pieces = Pieces(["a\nb\n"]) { throw LectureError(.readFile, detail: "x") }
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1 << 20) { Self.mark($0) }
        let output = Output()
        await #expect(throws: LectureError(.readFile)) {
            try await workers.run {
                try await pieces.next()
            } writing: {
                output.write($0)
            }
        }
        #expect(output.all == ["a!\nb!\n"])
    }

    @Test func `a reader that has gone ends it at once, although the input is silent`() async throws {
        let forever = Gate()
        let pieces = Pieces(["a\n"]) { await forever.wait() }
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1 << 20) { Self.mark($0) }
        await #expect(throws: OutputError(number: 32)) {
            try await workers.run {
                try await pieces.next()
            } writing: { _ in
                throw OutputError(number: 32)
            }
        }
        // Otherwise the task that reads would outlive the test.
        await forever.open()
    }

    @Test func `a reader that has gone also ends a reading that waits for the writing`() async throws {
        let pieces = Pieces((0..<100).map { "\($0)\n" })
        let workers = LineWorkers(longestLine: 100, bytesAhead: 1) { Self.mark($0) }
        await #expect(throws: OutputError(number: 32)) {
            try await workers.run {
                try await pieces.next()
            } writing: { _ in
                throw OutputError(number: 32)
            }
        }
        #expect(await pieces.read < 100)
    }
}
