import LectureKit

/// When and where the text of a watermark is shown: for a while, then hidden, then at another place, so that a
/// recording that is cut at one side does not lose it.
struct WatermarkSchedule: Sendable, Hashable {
    private let watermark: ContentOutline.Watermark

    /// The places in turn, from the left and from the top.
    private static let places: [TextOverlay.Position] = [
        .init(x: 0.05, y: 0.06), .init(x: 0.6, y: 0.85), .init(x: 0.6, y: 0.06), .init(x: 0.05, y: 0.85),
        .init(x: 0.35, y: 0.45),
    ]

    /// Creates the schedule of a watermark.
    init(_ watermark: ContentOutline.Watermark) { self.watermark = watermark }

    /// What is shown.
    ///
    /// - Parameter time: since the player began.
    /// - Returns: nil while it is hidden.
    func overlay(at time: Duration) -> TextOverlay? {
        let period = watermark.showTime + watermark.hideTime
        let turn = Int(time / period)
        guard time - period * turn < watermark.showTime else { return nil }
        return TextOverlay(
            text: watermark.text, opacity: watermark.opacity, fontSize: watermark.fontSize, color: watermark.color,
            position: Self.places[turn % Self.places.count])
    }
}
