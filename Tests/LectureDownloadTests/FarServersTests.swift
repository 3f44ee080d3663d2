import LectureFormats
import LectureModel
import Testing

@testable import LectureDownload

/// Which servers are so far, and so prompt, that many of their small files are asked for at once.
struct FarServersTests {
    private let origin: Origin

    init() throws { origin = try Origin(url: "http://media.example/") }

    /// An answer as a header shows it.
    struct Sample: Sendable {
        var distance: Int? = 50
        var delay: Int? = 55
        var total: UInt64? = 65_536

        func add(to servers: inout FarServers, _ origin: Origin) {
            servers.answered(
                origin, distance: distance.map { .milliseconds($0) },
                delay: delay.map { .milliseconds($0) }, total: total)
        }
    }

    @Test(arguments: [
        (Sample(), true),
        (Sample(distance: 20, delay: 40), true),
        // A round trip that is not much longer than the work of a file.
        (Sample(distance: 19, delay: 20), false),
        // Near, and slow to answer: it is busy.
        (Sample(distance: 1, delay: 60), false),
        // Far, and busy as well.
        (Sample(distance: 50, delay: 101), false),
        (Sample(total: 1 << 20), true),
        (Sample(total: (1 << 20) + 1), false),
        // A body whose length the server does not say may be of any length.
        (Sample(total: nil), false),
        // No connection was made, so that the distance is not known.
        (Sample(distance: nil), false),
        (Sample(delay: nil), false),
        (Sample(distance: 0), false),
    ])
    func `one answer shows whether a server is far, prompt and has small files`(sample: Sample, isFar: Bool) {
        var servers = FarServers()
        #expect(!servers.isFar(origin))
        sample.add(to: &servers, origin)
        #expect(servers.isFar(origin) == isFar)
        #expect(Array(servers.far) == (isFar ? [origin] : []))
    }

    @Test func `the shortest way counts, and a connection that is used again has the same`() {
        var servers = FarServers()
        Sample(distance: 300, delay: 300).add(to: &servers, origin)
        Sample(distance: 5, delay: 6).add(to: &servers, origin)
        #expect(!servers.isFar(origin))
        servers.forget()
        Sample().add(to: &servers, origin)
        Sample(distance: nil).add(to: &servers, origin)
        #expect(servers.isFar(origin))
    }

    @Test func `a late answer is an accident, and several are not`() {
        var servers = FarServers()
        Sample().add(to: &servers, origin)
        Sample(delay: 300).add(to: &servers, origin)
        #expect(servers.isFar(origin))
        Sample(delay: 300).add(to: &servers, origin)
        #expect(!servers.isFar(origin))
        for _ in 0..<4 { Sample().add(to: &servers, origin) }
        #expect(servers.isFar(origin))
    }

    @Test func `a large file ends it, and a small one after it does not have to begin anew`() {
        var servers = FarServers()
        Sample().add(to: &servers, origin)
        Sample(total: 8 << 20).add(to: &servers, origin)
        #expect(!servers.isFar(origin))
        Sample(distance: nil).add(to: &servers, origin)
        #expect(servers.isFar(origin))
    }

    /// Where the link has no more to give, more transfers only make each of them longer.
    @Test(arguments: [(150, true), (300, true), (301, false), (2_000, false)])
    func `files that take longer than the way explains end it`(milliseconds: Int, isFar: Bool) {
        var servers = FarServers()
        Sample().add(to: &servers, origin)
        servers.ended(origin, after: .milliseconds(milliseconds))
        #expect(servers.isFar(origin) == isFar)
        servers.ended(origin, after: nil)
        #expect(servers.isFar(origin) == isFar)
        for _ in 0..<20 { servers.ended(origin, after: .milliseconds(60)) }
        #expect(servers.isFar(origin))
    }

    /// Headers and bytes of a connection come one after the other; its window doubles with each round trip of 50 ms.
    @Test(arguments: [
        (1, 100, 300), (2, 150, 350), (3, 150, 350), (4, 200, 400), (16, 300, 500), (48, 350, 550), (100, 400, 600),
    ])
    func `transfers that share a connection explain as many round trips more as it doubles its window`(
        sharing: Int, delay: Int, length: Int
    ) {
        for (late, isFar) in [(0, true), (1, false)] {
            var servers = FarServers()
            servers.answered(
                origin, distance: .milliseconds(50), delay: .milliseconds(delay + late), total: 1, sharing: sharing)
            #expect(servers.isFar(origin) == isFar)
            servers = FarServers()
            Sample().add(to: &servers, origin)
            servers.ended(origin, after: .milliseconds(length + late), sharing: sharing)
            #expect(servers.isFar(origin) == isFar)
        }
    }

    @Test(arguments: [Int.min, 0, 1]) func `one transfer explains nothing but its way`(sharing: Int) {
        var servers = FarServers()
        servers.answered(
            origin, distance: .milliseconds(50), delay: .milliseconds(101), total: 1, sharing: sharing)
        #expect(!servers.isFar(origin))
    }

    /// Else a server that becomes slow would count as prompt for as long as others had shared a connection before.
    @Test func `an answer that shared a connection is no quicker than one that did not`() {
        var servers = FarServers()
        for _ in 0..<50 {
            servers.answered(
                origin, distance: .milliseconds(50), delay: .milliseconds(55), total: 1, sharing: 64)
        }
        for _ in 0..<2 { Sample(delay: 600).add(to: &servers, origin) }
        #expect(!servers.isFar(origin))
    }

    @Test func `after a failure it has to be shown again`() {
        var servers = FarServers()
        Sample().add(to: &servers, origin)
        for _ in 0..<10 { servers.ended(origin, after: .milliseconds(55)) }
        servers.failed(origin)
        #expect(!servers.isFar(origin))
        var needed = 0
        while !servers.isFar(origin), needed < 100 {
            servers.ended(origin, after: .milliseconds(55))
            needed += 1
        }
        #expect(7...14 ~= needed)
    }

    @Test func `other servers, and those nothing is known of, are left alone`() throws {
        var servers = FarServers()
        let other = try Origin(url: "http://other.example/")
        Sample().add(to: &servers, origin)
        servers.ended(other, after: .seconds(9))
        servers.failed(other)
        #expect(!servers.isFar(other) && servers.isFar(origin))
        servers.forget()
        #expect(!servers.isFar(origin))
    }
}
