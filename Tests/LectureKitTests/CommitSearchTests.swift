import Testing

@testable import LectureKit

struct CommitSearchTests {
    private func expect(
        _ search: inout CommitSearch, _ version: Int64?, finds isFound: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = search.looked(version)
        #expect(found == isFound, sourceLocation: sourceLocation)
    }

    @Test func `a store that is not written is not looked at`() {
        var search = CommitSearch(version: 7)
        #expect(search.pause == nil)
        // A look of its own accord begins nothing.
        expect(&search, 7, finds: false)
        #expect(search.pause == nil)
    }

    @Test func `after a write it is looked at for longer than a sync takes, and then no more`() {
        var search = CommitSearch(version: 7)
        search.written()
        #expect(search.pause == .zero)
        var pauses: [Duration] = []
        for _ in 0..<20 {
            expect(&search, 7, finds: false)
            guard let pause = search.pause else { break }
            pauses.append(pause)
        }
        #expect(pauses.first == .milliseconds(100) && pauses.count == 10)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $1 == $0 * 2 })
        #expect(pauses.reduce(.zero, +) > .seconds(100))
        #expect(search.pause == nil)
    }

    @Test func `a commit is found once, and the search for a later one goes on`() {
        var search = CommitSearch(version: 7)
        search.written()
        expect(&search, 7, finds: false)
        expect(&search, 8, finds: true)
        #expect(search.pause == .milliseconds(200), "what was written last may not be visible yet")
        expect(&search, 8, finds: false)
        expect(&search, 9, finds: true)
    }

    @Test func `a write begins with the shortest pause again`() {
        var search = CommitSearch(version: nil)
        search.written()
        for _ in 0..<5 { _ = search.looked(nil) }
        search.written()
        expect(&search, 1, finds: true)
        #expect(search.pause == .milliseconds(100))
    }
}
