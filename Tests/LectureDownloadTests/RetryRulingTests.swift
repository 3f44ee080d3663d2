import LectureFormats
import LectureModel
import Testing

@testable import LectureDownload

/// What follows from failures, waits and wrong versions, decided from values alone.
struct RetryRulingTests {
    private static let host = "media.example"
    private static let network = LectureError(.transfer(7), detail: host)
    private static let server = LectureError(.status(500), detail: host)
    private static let settings = DownloadSettings()

    private static func attempt(_ error: LectureError = server, failures: Int) -> FailedAttempt {
        FailedAttempt(error, failures: failures, settings: settings)
    }

    /// The longest pause after so many failures.
    private static func longest(_ failures: Int) -> Duration { Backoff().delay(failures: failures, random: .max) }

    // MARK: Failures

    @Test func `a failed attempt is repeated after a pause that grows`() {
        for failures in 1..<Self.settings.maxAttempts {
            let pause = Self.longest(failures)
            #expect(pause <= Self.settings.longestHeldWait)
            #expect(Self.attempt(failures: failures).ruling { .max } == .wait(pause))
            #expect(
                Self.attempt(failures: failures).ruling { 0 } == .wait(Backoff().delay(failures: failures, random: 0)))
        }
    }

    @Test func `a long pause frees the slot of the item`() {
        var attempt = Self.attempt(failures: 2)
        attempt.longestHeldWait = Self.longest(2) - .milliseconds(1)
        #expect(attempt.ruling { .max } == .postpone(Self.server, Self.longest(2)))
        #expect(attempt.ruling { 0 } == .wait(Backoff().delay(failures: 2, random: 0)))
    }

    @Test func `with other transfers running there is one connection fewer, however many failed`() {
        var attempt = Self.attempt(failures: 100)
        attempt.othersRun = true
        for isOptional in [false, true] {
            attempt.isOptional = isOptional
            #expect(attempt.ruling { .max } == .useFewer(pause: Self.longest(1)))
        }
    }

    @Test func `after too many failures the network stops the item, and all else fails it`() {
        let never: () -> UInt64 = {
            Issue.record("nothing random is needed")
            return 0
        }
        let failures = Self.settings.maxAttempts
        #expect(Self.attempt(failures: failures).ruling(random: never) == .failItem(Self.server))
        let down = Self.attempt(Self.network, failures: failures)
        #expect(down.ruling(random: never) == .stopForNetwork(Self.network, .seconds(60)))
        for error in [Self.server, Self.network] {
            var optional = Self.attempt(error, failures: failures + 1)
            optional.isOptional = true
            #expect(optional.ruling(random: never) == .failResource(error))
        }
    }

    // MARK: Waits

    private static func wait(_ seconds: Int64?, failures: Int = 1) -> RequestedWait {
        RequestedWait(
            seconds.map { RetryAfter(delay: .seconds($0)) }, status: 503, host: host, failures: failures,
            settings: settings)
    }

    private static let refused = LectureError(.status(503), detail: host)
    private static let asked = LectureError(.serverWait, detail: host)

    @Test func `a short wait is held, and one of zero is not obeyed literally`() {
        #expect(Self.wait(3).ruling { 0 } == .hold(.seconds(3)))
        #expect(Self.wait(0).ruling { .max } == .hold(Self.longest(1)))
        #expect(Self.wait(nil, failures: 3).ruling { .max } == .hold(Self.longest(3)))
    }

    @Test func `a long wait stops the item, unless another server or another transfer goes on`() {
        let long = Self.wait(60)
        #expect(long.ruling { 0 } == .stop(Self.asked, .seconds(60)))
        var mirrored = long
        mirrored.hasMirror = true
        #expect(mirrored.ruling { 0 } == .turnToMirror)
        mirrored.wait = RetryAfter(delay: .seconds(3))
        #expect(mirrored.ruling { 0 } == .hold(.seconds(3)), "a short wait is no reason")
        var running = long
        running.othersRun = true
        #expect(running.ruling { 0 } == .hold(Self.settings.longestHeldWait))
        running.isLoader = true
        #expect(running.ruling { 0 } == .hold(.seconds(60)))
    }

    @Test func `an optional file does not wait long, and nothing waits forever`() {
        let limit = Self.settings.maxAttempts
        var optional = Self.wait(60)
        optional.isOptional = true
        #expect(optional.ruling { 0 } == .failResource(Self.refused))
        optional.wait = RetryAfter(delay: .seconds(1))
        #expect(optional.ruling { 0 } == .hold(.seconds(1)))
        optional.failures = limit + 1
        #expect(optional.ruling { 0 } == .failResource(Self.refused))
        #expect(Self.wait(9, failures: limit * 2).ruling { 0 } == .hold(.seconds(9)))
        #expect(Self.wait(9, failures: limit * 2 + 1).ruling { 0 } == .failItem(Self.refused))
    }

    // MARK: Wrong versions

    @Test func `three versions are discarded, the fourth is the last`() {
        let error = LectureError(.digestMismatch)
        for count in 1...4 {
            for isGateway in [false, true] {
                for urlsDisagree in [false, true] {
                    let version = DiscardedVersion(
                        because: error, count: count, isGateway: isGateway, urlsDisagree: urlsDisagree)
                    let asks = isGateway && !urlsDisagree
                    #expect(version.ruling == (count > 3 ? .failItem(error) : asks ? .askGateway : .fetchAgain))
                }
            }
        }
    }

    // MARK: Words

    @Test func `every ruling has the word that attempts have always had`() {
        let retries: [(RetryRuling, Decision)] = [
            (.useFewer(pause: .zero), .retry), (.wait(.zero), .retry), (.postpone(Self.server, .zero), .retry),
            (.failResource(Self.server), .failed), (.stopForNetwork(Self.network, .zero), .failed),
            (.failItem(Self.server), .failed),
        ]
        for (ruling, word) in retries { #expect(ruling.decision == word) }
        let waits: [(WaitRuling, Decision)] = [
            (.turnToMirror, .mirror), (.hold(.zero), .wait), (.stop(Self.asked, .zero), .wait),
            (.failResource(Self.refused), .failed), (.failItem(Self.refused), .failed),
        ]
        for (ruling, word) in waits { #expect(ruling.decision == word) }
        let restarts: [(RestartRuling, Decision)] = [
            (.failItem(Self.server), .failed), (.askGateway, .restart), (.fetchAgain, .restart),
        ]
        for (ruling, word) in restarts { #expect(ruling.decision == word) }
    }
}
