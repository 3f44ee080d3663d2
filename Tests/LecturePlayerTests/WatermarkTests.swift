import LectureKit
import Testing

@testable import LecturePlayer

/// When a watermark is shown, and that its text is nothing but text.
struct WatermarkTests {
    private func watermark(shown: Int, hidden: Int) -> WatermarkSchedule {
        WatermarkSchedule(
            ContentOutline.Watermark(
                text: "kim", opacity: 0.5, fontSize: 28, color: 0xFF8000, showTime: .seconds(shown),
                hideTime: .seconds(hidden)))
    }

    @Test func `it is shown and hidden in turn, each time at another place`() {
        let schedule = watermark(shown: 5, hidden: 20)
        let shown = (0..<250).map { schedule.overlay(at: .seconds($0)) }
        for (second, overlay) in shown.enumerated() { #expect((overlay != nil) == (second % 25 < 5), "\(second)") }
        let places = stride(from: 0, to: 250, by: 25).compactMap { shown[$0]?.position }
        #expect(places.count == 10 && Set(places).count == 5)
        for (one, next) in zip(places, places.dropFirst()) { #expect(one != next) }
    }

    @Test func `without a pause it moves and is never gone`() {
        let schedule = watermark(shown: 5, hidden: 0)
        #expect((0..<100).allSatisfy { schedule.overlay(at: .seconds($0)) != nil })
        #expect(schedule.overlay(at: .seconds(4))?.position != schedule.overlay(at: .seconds(5))?.position)
    }

    @Test func `braces and backslashes in a text are no commands`() {
        let overlay = TextOverlay(
            text: "a{\\pos(0,0)}\nb", opacity: 0.25, fontSize: 28, color: 0x112233, position: .init(x: 0.5, y: 0.25))
        #expect(
            AdvancedSubstation.text(overlay)
                == "{\\an7\\pos(640,180)\\fs28\\bord1\\1c&H332211&\\alpha&HBF&}a｛＼pos(0,0)｝ b")
    }
}
