import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

/// How many transfers may run: the pacer with the rules of downloads.
@Suite struct TransferPacingTests {
    private let now = BootInstant(nanoseconds: 1_000_000_000)
    private let wall = Timestamp(milliseconds: 1_000_000)

    private func origin(_ url: String = "http://a/") throws -> Origin { try Origin(url: url) }

    private func rules(perOrigin: Int = 16, perHost: Int = 16, total: Int = 100) -> OriginPacer.Rules {
        var rules = DownloadSettings().pacing
        (rules.window.maximum, rules.perHost, rules.total) = (perOrigin, perHost, total)
        return rules
    }

    /// A pacer, and the transfers that it lets run.
    private struct Transfers {
        var pacer: TrafficPacer
        private var running: [Origin: [TransferID]] = [:]
        private var last: UInt64 = 0
        let now: BootInstant

        init(_ rules: OriginPacer.Rules, at now: BootInstant) { (pacer, self.now) = (TrafficPacer(rules), now) }

        func admission(
            _ origin: Origin, by carrier: OriginPacer.Carrier = .connection
        ) -> OriginPacer.Admission {
            pacer.admission(origin, by: carrier, at: now)
        }

        func count(_ origin: Origin) -> Int { running[origin]?.count ?? 0 }

        mutating func start(_ origin: Origin, by carrier: OriginPacer.Carrier = .connection) {
            last += 1
            pacer.started(TransferID(last), at: origin, by: carrier, boot: now)
            running[origin, default: []].append(TransferID(last))
        }

        /// Ends the oldest transfer of an origin.
        mutating func end(_ origin: Origin, _ outcome: OriginPacer.Outcome) {
            guard let id = running[origin]?.removeFirst() else { return }
            pacer.ended(id, outcome, at: now, random: 0)
        }

        /// Starts as many as are admitted; returns how many.
        mutating func fill(_ origin: Origin, by carrier: OriginPacer.Carrier = .connection) -> Int {
            let before = count(origin)
            while admission(origin, by: carrier) == .yes { start(origin, by: carrier) }
            return count(origin) - before
        }
    }

    private func transfers(_ rules: OriginPacer.Rules? = nil) -> Transfers {
        Transfers(rules ?? self.rules(), at: now)
    }

    @Test func `The settings give the bounds`() {
        var settings = DownloadSettings()
        #expect(settings.pacing == rules() && settings.pacing.window.initial == 4)
        settings.connections = 7
        settings.connectionsPerHost = 6
        #expect(settings.pacing.window.initial == 7)
        settings.jobs = 180
        #expect(settings.pacing.window.initial == 180 && settings.pacing.window.maximum == 6)
        #expect(settings.pacing.window.halvedBy == [.overloaded] && settings.pacing.window.doublesAtFirst)
        #expect(settings.pacing.perHost == 6 && settings.pacing.total == 180 && settings.pacing.streams == 100)
        #expect(settings.pacing.rate == nil && settings.pacing.breaker == nil)
    }

    // MARK: Far servers

    private func farRules(far: Int = 48, perHost: Int = 16) -> OriginPacer.Rules {
        var rules = rules(perOrigin: perHost, perHost: perHost)
        rules.far = far
        return rules
    }

    @Test(arguments: [(false, 0), (true, 48)])
    func `More connections than usual are for far servers, where no number was chosen`(exceeds: Bool, far: Int) {
        var settings = DownloadSettings()
        settings.exceedsPerHost = exceeds
        #expect(settings.pacing.far == far && settings.pacing.window.maximum == 16 && settings.pacing.perHost == 16)
    }

    @Test func `A far server gets at once what others get at the most, and then one more with every success`() throws {
        var transfers = transfers(farRules())
        let origin = try origin()
        #expect(transfers.fill(origin) == 4)
        transfers.pacer.located(origin, isFar: true)
        #expect(transfers.fill(origin) == 12)
        for expected in 17...48 {
            transfers.end(origin, .served)
            #expect(transfers.pacer[origin].limit == expected)
            _ = transfers.fill(origin)
        }
        transfers.end(origin, .served)
        #expect(transfers.fill(origin) == 1 && transfers.count(origin) == 48)
    }

    @Test func `A server that is not far any more gets as many as others`() throws {
        var transfers = transfers(farRules())
        let origin = try origin()
        transfers.pacer.located(origin, isFar: true)
        for _ in 0..<60 {
            _ = transfers.fill(origin)
            transfers.end(origin, .served)
        }
        #expect(transfers.fill(origin) == 1 && transfers.count(origin) == 48)
        transfers.pacer.located(origin, isFar: false)
        while transfers.count(origin) > 16 { transfers.end(origin, .served) }
        #expect(transfers.admission(origin) == .busy(.host))
        transfers.end(origin, .served)
        #expect(transfers.fill(origin) == 1)
    }

    @Test func `A chosen number of connections is a bound for far servers as well`() throws {
        var transfers = transfers(farRules(far: 0, perHost: 6))
        let origin = try origin()
        transfers.pacer.located(origin, isFar: true)
        for _ in 0..<60 {
            _ = transfers.fill(origin)
            transfers.end(origin, .served)
        }
        #expect(transfers.fill(origin) == 1 && transfers.count(origin) == 6)
    }

    @Test func `An overload shows how many a far server can serve, before and after it is known to be far`() throws {
        var transfers = transfers(farRules())
        let origin = try origin()
        _ = transfers.fill(origin)
        transfers.end(origin, .overloaded)
        transfers.pacer.located(origin, isFar: true)
        #expect(transfers.pacer[origin].limit == 2)
        let other = try self.origin("http://b/")
        _ = transfers.fill(other)
        transfers.pacer.located(other, isFar: true)
        _ = transfers.fill(other)
        for _ in 0..<16 { transfers.end(other, .overloaded) }
        #expect(transfers.pacer[other].limit == 8)
    }

    @Test func `The host of a far server bears as many, and other servers there no more than usual`() throws {
        var transfers = transfers(farRules())
        let (origin, other) = (try origin(), try origin("http://a:8080/"))
        _ = transfers.fill(origin)
        transfers.pacer.located(origin, isFar: true)
        _ = transfers.fill(origin)
        #expect(transfers.admission(other) == .busy(.host))
        for _ in 0..<20 {
            transfers.end(origin, .served)
            _ = transfers.fill(origin)
        }
        #expect(transfers.count(origin) == 36 && transfers.admission(other) == .busy(.host))
    }

    @Test func `Streams of a far server are bounded as those of any other`() throws {
        var transfers = transfers(farRules())
        let origin = try origin("https://a/")
        _ = transfers.fill(origin, by: .stream)
        transfers.pacer.located(origin, isFar: true)
        transfers.pacer.answered(origin, carriesStreams: true)
        #expect(transfers.fill(origin, by: .stream) == 96)
    }

    @Test func `Streams of one connection are not counted as connections`() throws {
        var transfers = transfers()
        let (origin, other) = (try origin("https://a/"), try self.origin("https://a:8443/"))
        // Unknown yet: each might need a connection.
        #expect(transfers.fill(origin, by: .stream) == 4)
        for _ in 0..<4 { transfers.end(origin, .served) }
        transfers.pacer.answered(origin, carriesStreams: true)
        #expect(transfers.fill(origin, by: .stream) == 100)
        #expect(transfers.admission(origin, by: .stream) == .busy(.total))
        // The host has no connection but that one: another of its origins may have its own.
        for _ in 0..<30 { transfers.end(origin, .neutral) }
        #expect(transfers.fill(other) == 4)
        // A large file takes a connection, of which the host has a bound.
        for _ in 0..<4 { transfers.end(other, .served) }
        #expect(transfers.fill(origin) == 16)
        #expect(transfers.admission(origin) == .busy(.host) && transfers.admission(origin, by: .stream) == .yes)
        // Over HTTP/1.1 again, nothing starts until there are fewer than the bound.
        transfers.pacer.answered(origin, carriesStreams: false)
        #expect(transfers.admission(origin, by: .stream) == .busy(.host))
        while transfers.count(origin) > 15 { transfers.end(origin, .neutral) }
        #expect(transfers.admission(origin, by: .stream) == .yes)
    }

    @Test func `A server that was overloaded does not get all streams at once`() throws {
        var transfers = transfers()
        let origin = try origin("https://a/")
        _ = transfers.fill(origin, by: .stream)
        transfers.end(origin, .overloaded)
        transfers.pacer.answered(origin, carriesStreams: true)
        #expect(transfers.pacer[origin].limit == 2)
    }

    @Test func `An origin starts at four, and at twice as many after a window of successes`() throws {
        var transfers = transfers()
        let origin = try origin()
        #expect(transfers.fill(origin) == 4)
        #expect(transfers.admission(origin) == .busy(.origin))
        for expected in 5...8 {
            transfers.end(origin, .served)
            #expect(transfers.pacer[origin].limit == expected)
        }
        #expect(transfers.fill(origin) == 8)
    }

    @Test func `After an overload it grows by one after a window of successes`() throws {
        var transfers = transfers()
        let origin = try origin()
        _ = transfers.fill(origin)
        for _ in 0..<4 { transfers.end(origin, .overloaded) }
        for expected in [2, 3, 3, 3, 4] {
            _ = transfers.fill(origin)
            transfers.end(origin, .served)
            #expect(transfers.pacer[origin].limit == expected)
        }
    }

    @Test func `It grows up to the limit and no further`() throws {
        var transfers = transfers(rules(perOrigin: 6, perHost: 99, total: 99))
        let origin = try origin()
        for _ in 0..<100 {
            transfers.start(origin)
            transfers.end(origin, .served)
        }
        #expect(transfers.pacer[origin].limit == 6)
    }

    @Test func `A burst that fails together halves once`() throws {
        var transfers = transfers()
        let origin = try origin()
        _ = transfers.fill(origin)
        for _ in 0..<4 { transfers.end(origin, .overloaded) }
        #expect(transfers.pacer[origin].limit == 2)
        for expected in [1, 1] {
            transfers.start(origin)
            transfers.end(origin, .overloaded)
            #expect(transfers.pacer[origin].limit == expected)
        }
        #expect(transfers.pacer.runningCount == 0)
    }

    @Test func `Failures never end all transfers`() throws {
        var transfers = transfers()
        let origin = try origin()
        for outcome in [OriginPacer.Outcome.overloaded, .failed, .timedOut] {
            for _ in 0..<20 {
                transfers.start(origin)
                transfers.end(origin, outcome)
            }
        }
        #expect(transfers.admission(origin) == .yes)
    }

    @Test func `A failure unrelated to load changes nothing`() throws {
        var transfers = transfers()
        let origin = try origin()
        for _ in 0..<20 {
            transfers.start(origin)
            transfers.end(origin, .neutral)
        }
        #expect(transfers.pacer[origin].limit == 4)
        let before = transfers.pacer
        transfers.pacer.ended(TransferID(999), .served, at: now, random: 0)
        #expect(transfers.pacer == before && transfers.pacer.runningCount == 0, "an unknown transfer")
    }

    @Test func `Host and total limits are shared`() throws {
        var transfers = transfers(rules(perOrigin: 9, perHost: 5, total: 7))
        let (plain, secure, other) = (try origin("http://a/"), try origin("https://a/"), try origin("http://b/"))
        #expect(transfers.fill(plain) == 4)
        #expect(transfers.fill(secure) == 1)
        #expect(transfers.admission(secure) == .busy(.host))
        #expect(transfers.fill(other) == 2)
        #expect(transfers.admission(other) == .busy(.total))
        transfers.end(plain, .served)
        #expect(transfers.admission(secure) == .yes)
    }

    @Test func `Lower limits apply to all origins, and end nothing that runs`() throws {
        var transfers = transfers()
        let origin = try origin()
        _ = transfers.fill(origin)
        transfers.pacer.rules = rules(perOrigin: 2, perHost: 2, total: 2)
        #expect(transfers.pacer.runningCount == 4 && transfers.pacer[origin].limit == 2)
        for _ in 0..<2 { transfers.end(origin, .neutral) }
        #expect(transfers.admission(origin) == .busy(.total))
        transfers.end(origin, .neutral)
        #expect(transfers.admission(origin) == .yes)
    }

    @Test func `Retry-After holds until then, and a shorter one does not shorten it`() throws {
        var pacer = TrafficPacer(rules())
        let origin = try origin()
        pacer.wait(origin, for: .seconds(30), now: wall, boot: now)
        pacer.wait(origin, for: .seconds(5), now: wall, boot: now)
        #expect(pacer.admission(origin, at: now) == .waiting(.seconds(30)))
        #expect(pacer.admission(origin, at: now + .seconds(30)) == .yes)
        #expect(pacer.admission(try self.origin("http://b/"), at: now) == .yes)
    }

    @Test func `Limit and wait survive a restart with another boot clock`() throws {
        var transfers = transfers()
        let origin = try origin()
        _ = transfers.fill(origin)
        transfers.end(origin, .overloaded)
        transfers.pacer.wait(origin, for: .seconds(30), now: wall, boot: now)
        let (limit, wait) = (transfers.pacer[origin].limit, transfers.pacer[origin].storedWait)
        #expect(limit == 2 && wait == RetryWait(setAt: wall, delay: .seconds(30)))

        var restarted = TrafficPacer(rules())
        let boot = BootInstant(nanoseconds: 5)
        restarted.restore(origin, limit: limit, wait: wait, now: wall + .seconds(10), boot: boot)
        #expect(restarted[origin].limit == 2)
        #expect(restarted.admission(origin, at: boot) == .waiting(.seconds(20)))
    }

    @Test func `A wait from another clock is cut to what a server may ask for`() throws {
        var pacer = TrafficPacer(rules())
        let origin = try origin()
        let start = Timestamp(milliseconds: 0)
        let wait = RetryWait(setAt: start, due: Timestamp(milliseconds: .max))
        pacer.restore(origin, limit: -3, wait: wait, now: start, boot: now)
        #expect(pacer.admission(origin, at: now) == .waiting(RetryAfter.maximum))
        #expect(pacer[origin].limit == 1)
    }

    @Test func `While handshakes fail, requests do not wait for one another's connection`() throws {
        var traits = OriginTraits()
        let (origin, other) = (try origin("https://a/"), try self.origin("https://b/"))
        traits.handshakeFailed(at: origin)
        #expect(!traits.usesHTTP2(origin) && traits.usesHTTP2(other))
        traits.answered(origin)
        #expect(traits.usesHTTP2(origin))
        #expect(RetryTable.isHandshake(transfer: 60) && !RetryTable.isHandshake(transfer: 7))
    }

    @Test func `Whatever happens, the counts add up and no limit is broken`() throws {
        var random = SeededGenerator(seed: 4)
        let limits = rules(perOrigin: 8, perHost: 10, total: 12)
        var transfers = transfers(limits)
        let origins = try ["http://a/", "https://a/", "http://b/"].map { try origin($0) }
        for _ in 0..<5000 {
            let origin = origins[Int.random(in: 0..<3, using: &random)]
            if Bool.random(using: &random), transfers.admission(origin) == .yes {
                transfers.start(origin)
            } else if transfers.count(origin) > 0 {
                let outcomes = [OriginPacer.Outcome.served, .served, .served, .overloaded, .neutral]
                transfers.end(origin, outcomes[Int.random(in: 0..<5, using: &random)])
            }
            let counts = origins.map { transfers.count($0) }
            #expect(transfers.pacer.runningCount == counts.reduce(0, +) && transfers.pacer.runningCount <= limits.total)
            #expect(counts[0] + counts[1] <= limits.perHost)
            #expect(origins.map { transfers.pacer[$0].runningCount } == counts)
            #expect((1...limits.window.maximum).contains(transfers.pacer[origin].limit))
        }
    }
}

@Suite struct OriginTraitsTests {
    private let now = BootInstant(nanoseconds: 1_000_000_000)

    @Test func `Trials expire after ten minutes, HTTP/2 failures do not`() throws {
        var traits = OriginTraits()
        let origin = try Origin(url: "http://a/")
        #expect(traits.trial(of: origin, at: now) == nil && traits.usesHTTP2(origin))
        let outcome = RangeTrial.Outcome(helped: false, ratio: 1.02)
        traits.remember(outcome, for: origin, at: now)
        traits.http2Failed(at: origin)
        traits.streamEnded(at: origin)
        #expect(traits.trial(of: origin, at: now + .seconds(599)) == outcome)
        #expect(traits.trial(of: origin, at: now + .seconds(600)) == nil)
        #expect(!traits.usesHTTP2(origin))
    }

    @Test func `Three broken streams in a row end HTTP/2`() throws {
        var traits = OriginTraits()
        let (origin, other) = (try Origin(url: "http://a/"), try Origin(url: "http://b/"))
        for _ in 0..<2 { traits.streamBroke(at: origin) }
        traits.streamEnded(at: origin)
        for _ in 0..<2 { traits.streamBroke(at: origin) }
        #expect(traits.usesHTTP2(origin), "one that ended well starts the count again")
        traits.streamBroke(at: origin)
        #expect(!traits.usesHTTP2(origin) && traits.usesHTTP2(other))
    }
}
