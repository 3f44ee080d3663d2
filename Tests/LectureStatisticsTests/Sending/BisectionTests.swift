import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// The cost of a refused batch.
struct BisectionTests {
    private struct Result {
        var requests = 0
        var delivered: [Int] = []
        var dead: [Int] = []
        var sent: [Int: [Int]] = [:]
        var order: [Int] = []
    }

    /// Runs a batch against a target that refuses every request with a poisoned report.
    private func run(_ count: Int, poison: Set<Int>, limit: Int = .max) -> Result {
        var batch = Bisection(Array(0..<count))
        var result = Result()
        while let piece = batch.current {
            result.requests += 1
            #expect(result.sent.updateValue(piece.reports, forKey: piece.number) == nil, "a number is new")
            #expect(batch.remaining.starts(with: piece.reports))
            let isOne = piece.reports.count == 1
            let verdict: SendVerdict
            if piece.reports.count > limit {
                verdict = .split
            } else if poison.isDisjoint(with: piece.reports) {
                verdict = .delivered
            } else {
                verdict = isOne ? .dead(.refused) : .bisect
            }
            switch batch.take(verdict) {
            case .delivered(let reports):
                result.delivered += reports
                result.order += reports
            case .dead(let reports, let reason):
                #expect(reports.count == 1 && reason == .refused)
                result.dead += reports
                result.order += reports
            case .divided(let reports): #expect(reports == piece.reports && reports.count > 1)
            case .kept: Issue.record("no answer was lost")
            }
        }
        #expect(result.order == Array(0..<count), "in their order, each once")
        return result
    }

    @Test func `one poison among n costs at most 2 log n + 1 requests, wherever it is`() {
        for count in 1...130 {
            // 2^(requests - 1) <= n^2 is requests <= 2 log2(n) + 1, without rounding.
            for poison in 0..<count {
                let result = run(count, poison: [poison])
                #expect(1 << (result.requests - 1) <= count * count, "\(poison) of \(count)")
                #expect(result.dead == [poison] && result.delivered.count == count - 1)
            }
        }
    }

    @Test(arguments: [500, 1000, 4096, 10_007]) func `large batches too`(count: Int) {
        for poison in [0, 1, count / 3, count / 2 - 1, count / 2, count - 2, count - 1] {
            #expect(1 << (run(count, poison: [poison]).requests - 1) <= count * count)
        }
    }

    @Test func `without refusals it takes one request, with only refusals 2n − 1 at most`() {
        for count in 1...64 {
            #expect(run(count, poison: []).requests == 1)
            let result = run(count, poison: Set(0..<count))
            #expect(result.dead.count == count && result.requests <= 2 * count - 1)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6]) func `any poison terminates, also above a size limit`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 1...60, using: &randomness)
            let poison = Set((0..<count).filter { _ in Int.random(in: 0..<12, using: &randomness) == 0 })
            let result = run(count, poison: poison, limit: Int.random(in: 1...60, using: &randomness))
            #expect(Set(result.dead) == poison && result.requests <= 2 * count - 1)
        }
    }

    @Test func `as long as the outcome is unknown the same body is sent again`() {
        var batch = Bisection(["a", "b", "c"])
        for verdict in [
            SendVerdict.keep(.noAnswer, wait: nil), .keep(.busy, wait: .seconds(3)), .suspend(.forbidden),
            .follow(url: "https://a.example/"),
        ] {
            let before = batch
            #expect(batch.take(verdict) == .kept && batch == before)
        }
        #expect(batch.take(.bisect) == .divided(["a", "b", "c"]))
        #expect(batch.current?.reports == ["a"] && batch.current?.number == 1)
        #expect(batch.take(.keep(.noAnswer, wait: nil)) == .kept && batch.current?.number == 1)
        #expect(batch.take(.delivered) == .delivered(["a"]))
        #expect(batch.current?.reports == ["b"], "the second half is to blame and is not sent whole")
        #expect(batch.take(.delivered) == .delivered(["b"]))
        #expect(batch.current?.reports == ["c"] && batch.remaining == ["c"])
        #expect(batch.take(.delivered) == .delivered(["c"]), "no dead letter without an answer of its own")
        #expect(batch.current == nil && batch.take(.delivered) == .kept)
    }

    @Test func `a batch refused for size is halved without blame`() {
        var batch = Bisection([1, 2, 3, 4])
        #expect(batch.take(.split) == .divided([1, 2, 3, 4]))
        #expect(batch.take(.delivered) == .delivered([1, 2]))
        #expect(batch.current?.reports == [3, 4])
        #expect(batch.take(.dead(.unsupported)) == .dead([3, 4], .unsupported))
        #expect(Bisection<Int>([]).current == nil)
    }

    @Test func `one report cannot be halved`() {
        var one = Bisection([1])
        #expect(one.take(.split) == .dead([1], .tooLarge))
        one = Bisection([1])
        #expect(one.take(.bisect) == .dead([1], .refused))
    }
}
