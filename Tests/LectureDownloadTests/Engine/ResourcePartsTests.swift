import LectureFormats
import LectureModel
import Testing

@testable import LectureDownload

/// The values that a resource in work consists of.
struct ResourcePartsTests {
    private static let (a, b, c) = (URLLeaseID(1), URLLeaseID(2), URLLeaseID(3))

    private static func sources(_ leases: [URLLeaseID] = [a, b, c]) -> ResourceSources {
        ResourceSources(
            leases.map { lease in
                URLLeaseRecord(
                    id: lease, resource: ResourceID(1), url: "https://s\(lease.value).example/m",
                    rank: Int(lease.value),
                    state: .usable, expires: nil)
            })
    }

    private static func choice(_ sources: ResourceSources, isShared: Bool = true, load: [URLLeaseID: Int] = [:])
        -> URLLeaseID?
    {
        sources.choice(isShared: isShared, load: load, mayAsk: { _ in true })?.lease
    }

    // MARK: Sources

    @Test func `without a digest all bytes come from the first URL`() {
        var sources = Self.sources()
        sources.measured(Self.b, bytes: 1_000_000, in: .seconds(1))
        #expect(Self.choice(sources, isShared: false) == Self.a)
        _ = sources.mark(Self.a, .refused)
        #expect(Self.choice(sources, isShared: false) == Self.b)
    }

    @Test func `shared work goes to untried servers, then to the fastest`() {
        var sources = Self.sources([Self.a, Self.b])
        sources.measured(Self.a, bytes: 1_000_000, in: .seconds(1))
        #expect(Self.choice(sources) == Self.b, "it is untried")
        #expect(Self.choice(sources, load: [Self.b: 1]) == Self.a, "it is being tried")
        sources.measured(Self.b, bytes: 3_000_000, in: .seconds(1))
        #expect(Self.choice(sources) == Self.b)
        #expect(Self.choice(sources, load: [Self.b: 3]) == Self.a, "a third of its speed is not enough")
        #expect(sources.choice(isShared: true, load: [:], mayAsk: { $0.contains("s1") })?.lease == Self.a)
        sources.measured(Self.a, bytes: 65_536, in: .milliseconds(1))
        #expect(Self.choice(sources) == Self.b, "too little to measure")
    }

    @Test func `a URL that fails twice in a row is used when there is no other`() {
        var sources = Self.sources([Self.a, Self.b])
        #expect(sources.failed(Self.a) == false)
        sources.succeeded(Self.a)
        #expect(sources.failed(Self.a) == false)
        #expect(sources.canTurn(from: Self.b, mayAsk: { _ in true }))
        #expect(sources.failed(Self.a) == true)
        #expect(!sources.canTurn(from: Self.b, mayAsk: { _ in true }))
        #expect(sources.canTurn(from: Self.a, mayAsk: { _ in true }))
        #expect(!sources.canTurn(from: Self.a, mayAsk: { _ in false }))
        #expect(!sources.canTurn(from: Self.c, mayAsk: { _ in true }), "it is none of them")
        #expect(Self.choice(sources) == Self.b)
        _ = sources.mark(Self.b, .refused)
        #expect(Self.choice(sources) == Self.a)
        _ = sources.mark(Self.a, .disagrees)
        #expect(Self.choice(sources) == nil)
        #expect(!sources.hasUsable && sources.hasDisagreement)
    }

    @Test func `a URL that is moved behind the others keeps their order`() {
        var sources = Self.sources()
        #expect(sources.moveBehind(Self.a)?.rank == 4)
        #expect(sources.urls.map(\.id) == [Self.b, Self.c, Self.a])
        #expect(sources.moveBehind(URLLeaseID(9)) == nil)
        #expect(sources.mark(URLLeaseID(9), .refused) == nil)
    }

    @Test func `a validator means nothing to the other servers`() {
        var sources = Self.sources()
        #expect(sources.owns(Self.b) && !sources.isDescribedByOther(than: Self.b))
        sources.described(by: Self.a)
        #expect(sources.owns(Self.a) && sources.owns(nil) && !sources.owns(Self.b))
        #expect(sources.isDescribedByOther(than: Self.b) && !sources.isDescribedByOther(than: Self.a))
        _ = sources.mark(Self.a, .refused)
        #expect(!sources.isDescribedByOther(than: Self.b))
        sources.replace(with: Self.sources([Self.c]).urls)
        #expect(sources.owns(Self.c))
    }

    @Test func `the only URL is tried three more times if it has delivered bytes`() {
        var sources = Self.sources([Self.a])
        #expect(sources.mayBeOneOfSeveral(Self.a, othersRun: true) == false, "it has delivered nothing")
        sources.measured(Self.a, bytes: 100_000, in: .seconds(1))
        let answers = (0..<4).map { _ in sources.mayBeOneOfSeveral(Self.a, othersRun: false) }
        #expect(answers == [true, true, true, false])
        #expect(sources.mayBeOneOfSeveral(Self.a, othersRun: true) == true)
        sources.gainedBytes()
        #expect(sources.mayBeOneOfSeveral(Self.a, othersRun: false) == true)
        #expect(sources.mayBeOneOfSeveral(nil, othersRun: true) == false)
        // The first transfer has an answer and has not ended.
        var early = Self.sources([Self.a])
        early.answered(by: Self.a)
        #expect(early.mayBeOneOfSeveral(Self.a, othersRun: true) == true)
        #expect(early.mayBeOneOfSeveral(Self.a, othersRun: false) == false, "it has ended without bytes")
        var two = Self.sources([Self.a, Self.b])
        two.answered(by: Self.a)
        two.measured(Self.a, bytes: 100_000, in: .seconds(1))
        #expect(two.mayBeOneOfSeveral(Self.a, othersRun: true) == false, "there is another")
    }

    @Test func `a wrong digest costs all servers but one`() {
        var sources = Self.sources()
        #expect(sources.suspects() == [], "another is tried")
        sources.opened(Self.b)
        #expect(sources.suspects() == [Self.b])
        sources.opened(Self.a)
        sources.opened(Self.c)
        #expect(sources.suspects() == [Self.b, Self.c])
        var single = Self.sources([Self.a])
        single.opened(Self.a)
        #expect(single.suspects() == nil)
    }

    @Test func `a redirect is followed once`() throws {
        var sources = Self.sources()
        let origin = try Origin(url: "https://x.example/")
        let fields = HeaderFields()
        let redirect = Redirect(url: "https://x.example/", fields: fields, route: Route(fields: fields, origin: origin))
        sources.follow(redirect, of: Self.a)
        #expect(sources.turn == ResourceSources.Turn(redirect: redirect, lease: Self.a))
        sources.opened(Self.a)
        #expect(sources.turn == nil)
    }

    // MARK: Connections

    @Test func `one connection, until a trial shows that more help`() {
        var connections = Connections()
        #expect(connections.wanted(fixed: nil, limit: 8) == 1)
        #expect(connections.wanted(fixed: 3, limit: 8) == 3)
        #expect(connections.wanted(fixed: 0, limit: 8) == 1)
        func measure(_ seconds: Int64, _ received: UInt64, missing: UInt64 = 1 << 30, delivers: Bool = false)
            -> Connections.TrialResult
        {
            connections.measure(
                running: connections.wasParallel ? 2 : 1, RangeTrial.Reading(bytes: received), missing: { missing },
                limit: 8,
                known: nil,
                delivers: { _ in delivers }, at: BootInstant(nanoseconds: 0) + .seconds(seconds))
        }
        #expect(measure(0, 0) == Connections.TrialResult())
        #expect(measure(2, 16 << 20) == Connections.TrialResult())
        #expect(connections.wanted(fixed: nil, limit: 8) == 2)
        connections.opened(TransferID(1), running: 1)
        #expect(!connections.wasParallel)
        connections.opened(TransferID(2), running: 2)
        #expect(connections.wasParallel)
        _ = measure(3, 24 << 20, delivers: true)
        let result = measure(5, 40 << 20)
        #expect(result.closesNewest && result.outcome?.helped == false)
        #expect(connections.wanted(fixed: nil, limit: 8) == 1)
    }

    /// 8 MiB a second: ten windows of a second are 80 MiB.
    @Test(arguments: [(79, 1), (81, 2)])
    func `no other connection is opened for what is soon there`(missingMiB: UInt64, connectionsWanted: Int) {
        var connections = Connections()
        for (seconds, received) in [(0, 0), (2, 16 << 20)] as [(Int64, UInt64)] {
            _ = connections.measure(
                running: 1, RangeTrial.Reading(bytes: received), missing: { missingMiB << 20 }, limit: 8, known: nil,
                delivers: { _ in false }, at: BootInstant(nanoseconds: 0) + .seconds(seconds))
        }
        #expect(connections.wanted(fixed: nil, limit: 8) == connectionsWanted)
    }

    @Test func `a failed connection is not opened again`() {
        var connections = Connections()
        connections.opened(TransferID(2), running: 2)
        connections.failed(leaving: 3)
        #expect(connections.wanted(fixed: nil, limit: 8) == 3)
        #expect(connections.wanted(fixed: nil, limit: 2) == 2)
        connections.useOne()
        #expect(connections.wanted(fixed: nil, limit: 8) == 1)
    }

    @Test func `a server that gets ranges wrong is asked for the whole from then on`() {
        var connections = Connections()
        connections.avoidRanges()
        connections.useOne()
        connections.failed(leaving: 4)
        connections.opened(TransferID(2), running: 2)
        #expect(connections.avoidsRanges && connections.wasParallel)
        #expect(connections.wanted(fixed: 5, limit: 8) == 1)
        let result = connections.measure(
            running: 1, RangeTrial.Reading(bytes: 1 << 30), missing: { 1 << 30 }, limit: 8, known: nil,
            delivers: { _ in true },
            at: BootInstant(nanoseconds: 0))
        #expect(result == Connections.TrialResult())
    }

    // MARK: Chunks

    private static func ledger(total: UInt64?, committed: [Int] = []) -> ChunkLedger {
        ChunkLedger(RangeBook(total: total, grid: ChunkGrid(length: 1 << 20), committed: committed))
    }

    private static func written(_ chunks: [Int]) -> [WrittenChunk] {
        chunks.map { WrittenChunk(index: $0, proof: [UInt8($0)]) }
    }

    @Test func `chunks that are written again have new proofs`() {
        var ledger = Self.ledger(total: 4 << 20, committed: [1])
        let (fresh, again) = ledger.written(Self.written([0, 1]), lengthUnknownAt: nil)
        #expect(fresh == Self.written([0]) && again == Self.written([1]))
        #expect(ledger.bytes(of: [0, 1]) == 2 << 20)
        ledger.committed([0])
        #expect(ledger.book.committed.indices == [0, 1] && ledger.isAllCommitted)
        ledger.lost([1])
        #expect(ledger.book.committed.indices == [0] && !ledger.isAllCommitted)
        ledger.committed([1])
        #expect(ledger.isAllCommitted)
    }

    @Test func `the last chunk waits for the length`() {
        var ledger = Self.ledger(total: nil)
        let (fresh, _) = ledger.written(Self.written([0, 1]), lengthUnknownAt: (1 << 20) + 7)
        #expect(fresh == Self.written([0]) && !ledger.isAllCommitted)
        ledger.committed([0])
        #expect(ledger.takeUnsized() == Self.written([1]))
        #expect(ledger.takeUnsized().isEmpty && !ledger.isAllCommitted, "its segment is sealed")
    }

    @Test func `partial chunks are kept until they are continued or given up`() {
        var ledger = Self.ledger(total: 8 << 20, committed: [0])
        func remainder(_ chunk: UInt64) -> ChunkRemainder {
            ChunkRemainder(stream: TransferID(chunk), offset: chunk << 20 | 5)
        }
        #expect(ledger.keep(remainder(0)) == TransferID(0), "it is committed")
        for chunk in [5, 1, 3, 2, 6] as [UInt64] { #expect(ledger.keep(remainder(chunk)) == nil) }
        #expect(ledger.hasBytes)
        #expect(ledger.takeRemainder(of: 1)?.stream == TransferID(1))
        #expect(ledger.takeStreams(inside: .init(first: 2, end: 4)) == [TransferID(2), TransferID(3)])
        #expect(ledger.takeRemainders().map(\.stream) == [TransferID(5), TransferID(6)])
        #expect(ledger.remainders.isEmpty && ledger.hasBytes, "one is committed")
    }

    // MARK: Evidence and attempts

    @Test func `a single answer of known length is what the server has`() {
        var evidence = Evidence(hasEarlierBytes: false)
        evidence.delivered()
        #expect(!evidence.mayBeBetterNextTime(expecting: [1]))
        #expect(evidence.mayBeBetterNextTime(expecting: nil))
        evidence.delivered()
        #expect(evidence.mayBeBetterNextTime(expecting: [1]))
        #expect(Evidence(hasEarlierBytes: true).mayBeBetterNextTime(expecting: [1]))
        var cut = Evidence(hasEarlierBytes: false)
        cut.lengthFollowedFromEnd()
        #expect(cut.mayBeBetterNextTime(expecting: [1]))
        var found = Evidence(hasEarlierBytes: false)
        found.foundEarlierBytes()
        #expect(found == Evidence(hasEarlierBytes: true))
    }

    @Test func `the first announced digest counts, and a changed validator is remembered`() {
        var evidence = Evidence(hasEarlierBytes: false)
        var plan = BodyPlan(
            first: 0, count: 1, total: 1, validator: Validator(etag: nil, lastModified: nil, total: 1),
            acceptsRanges: true)
        plan.digest = [1]
        evidence.answered(plan)
        plan.digest = [2]
        plan.validatorChanged = true
        evidence.answered(plan)
        plan.validatorChanged = false
        evidence.answered(plan)
        #expect(evidence.announcedSHA256 == [1] && evidence.validatorWasChanged)
        #expect(evidence.mayBeBetterNextTime(expecting: [1]))
    }

    @Test func `little by little is progress only from 16 KiB on`() {
        var attempts = Attempts()
        attempts.failed()
        #expect(attempts.ended(gaining: 16_383, hasEnd: false) == false)
        #expect(attempts.failures == 1)
        #expect(attempts.ended(gaining: 1, hasEnd: false) == true)
        #expect(attempts.failures == 0)
        #expect(attempts.ended(gaining: 16_383, hasEnd: false) == false)
        #expect(attempts.ended(gaining: 0, hasEnd: true) == true)
        #expect(attempts.ended(gaining: 16_383, hasEnd: false) == false, "the count starts again")
        attempts.wait(until: BootInstant(nanoseconds: 0) + .seconds(1))
        #expect(
            attempts.isEarly(BootInstant(nanoseconds: 0))
                && !attempts.isEarly(BootInstant(nanoseconds: 0) + .seconds(1)))
    }
}
