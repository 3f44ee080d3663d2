import LectureCommand
import LectureKit
import LectureModel
import Testing

/// What a licence has left, in the line of a player.
struct PlayRestTests {
    private func text(_ change: (inout LicenceEntry) -> Void) throws -> String {
        var entry = try LicenceLines.entry()
        change(&entry)
        return PlayRest.text(LicenceStatus(entry, reasons: []))
    }

    @Test func `play time comes before plays, and the date is last`() throws {
        let time = try text { _ in }
        #expect(time.hasPrefix("0:50 of play time left, licence until 1970-01-01 "), "\(time)")
        let plays = try text { entry in
            entry.record?.policy.playTimeLimit = nil
            entry.record?.countUsed = 1
        }
        #expect(plays.hasPrefix("2 more plays, licence until "), "\(plays)")
        let last = try text { entry in
            entry.record?.policy.playTimeLimit = nil
            entry.record?.countUsed = 2
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.checkAt = nil
        }
        #expect(last == "1 more play")
        #expect(try text { $0.record = nil } == "")
    }
}
