import Testing

@testable import LectureLiveServer

/// Which connections nginx is ordered to drop, and how often.
struct NginxDropsTests {
    private let player = NginxConnection.player(name: "session", client: "7")
    private let publisher = NginxConnection.publisher(key: "key", client: "8")

    @Test func `what nginx finds is ordered once`() {
        var drops = NginxDrops()
        drops.add(player)
        drops.add(publisher)
        #expect(Set(drops.waiting) == [player, publisher])
        drops.ordered(player, wasFound: true)
        #expect(drops.waiting == [publisher])
        // An order that was under way at the same time.
        drops.ordered(player, wasFound: false)
        #expect(drops.waiting == [publisher])
    }

    @Test func `what nginx does not find is ordered again, but not for ever`() {
        var drops = NginxDrops()
        drops.add(player)
        for _ in 1..<NginxDrops.limit {
            drops.ordered(player, wasFound: false)
            #expect(drops.waiting == [player])
        }
        drops.ordered(player, wasFound: false)
        #expect(drops.waiting.isEmpty)
    }

    @Test func `what has ended is not ordered any more`() {
        var drops = NginxDrops()
        drops.add(player)
        drops.add(publisher)
        drops.ended(client: "9")
        #expect(drops.waiting.count == 2)
        drops.ended(client: "8")
        #expect(drops.waiting == [player])
        drops.clear()
        #expect(drops.waiting.isEmpty)
    }
}
