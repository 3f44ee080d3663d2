import LectureCommand
import Testing

/// Positions, sections and speeds as they are typed.
struct PlayPositionTests {
    @Test(arguments: [
        ("0", 0), ("90", 90), ("90.5", 90.5), ("12:30", 750), ("1:02:03", 3723), ("1:02:03.25", 3723.25),
        ("90:00", 5400), ("100:00:00", 360_000), ("1h2m", 3720), ("90s", 90),
    ])
    func `positions are seconds, minutes and hours, or a length of time`(text: String, seconds: Double) {
        #expect(PlayPosition.read(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "-1", "+1", "1:", ":30", "1:60", "1:2:3:4", "1:60:00", "1.5:00", "1:02:", ".5", "5.", "1e3", "nan", "0x10",
        "12:3a", "1 2", "１",
    ])
    func `anything else is no position`(text: String) { #expect(PlayPosition.read(text) == nil) }

    @Test func `a section is two positions in order`() {
        #expect(PlayPosition.section("12:30-15:00") == .seconds(750) ..< .seconds(900))
        #expect(PlayPosition.section("1m-2m") == .seconds(60) ..< .seconds(120))
        for text in ["60", "60-", "-60", "90-60", "60-60", "1-2-3", "a-b"] {
            #expect(PlayPosition.section(text) == nil)
        }
    }

    @Test func `a speed is from a half to ten`() {
        #expect(["0.5", "1", "1.25", "10"].map(PlayPosition.speed) == [0.5, 1, 1.25, 10])
        for text in ["0.49", "10.1", "-1", "fast", "", "1x"] { #expect(PlayPosition.speed(text) == nil) }
    }
}
