import Foundation

/// Where a player's picture is in its frame: a value, and the options of mpv that make it so.
struct PlayerPicture: Sendable, Hashable {
    /// How far a picture can be magnified, and how small it can be.
    private static let zooms: ClosedRange<CGFloat> = 0.25...8

    /// The frame of the view.
    var frame = CGRect.zero
    /// In pixels; zero while unknown.
    var naturalSize = CGSize.zero
    var mode = KollusPlayerContentMode.scaleAspectFit
    /// As the application has set it.
    var contentFrame = CGRect.zero
    /// Whether it is being moved.
    var isScrolling = false
    /// The magnification; 1 is none.
    private(set) var zoom: CGFloat = 1
    /// How far it is moved, in the units of the frame.
    private(set) var shift = CGPoint.zero
    private var smallest: CGFloat?

    /// Limits how small the picture can be.
    ///
    /// - Parameter zoom: a magnification; nil for no limit of the application's.
    mutating func setSmallest(_ zoom: CGFloat?) {
        smallest = zoom
        multiply(by: 1)
    }

    /// Magnifies.
    mutating func multiply(by factor: CGFloat) {
        zoom = min(max(zoom * factor, smallest ?? Self.zooms.lowerBound), Self.zooms.upperBound)
        // What is not magnified is in its place.
        if zoom <= 1 { shift = .zero } else { move(by: .zero) }
    }

    /// Moves, as far as there is picture.
    mutating func move(by distance: CGPoint) {
        let size = shown
        let (most, least) = (
            CGPoint(x: max(0, size.width - frame.width) / 2, y: max(0, size.height - frame.height) / 2), shift
        )
        shift.x = min(max(least.x + distance.x, -most.x), most.x)
        shift.y = min(max(least.y + distance.y, -most.y), most.y)
    }

    /// The picture as it is shown, magnified.
    private var shown: CGSize {
        let (natural, frame) = (naturalSize, frame.size)
        guard natural.width > 0, natural.height > 0, frame.width > 0, frame.height > 0 else { return .zero }
        let (across, down) = (frame.width / natural.width, frame.height / natural.height)
        let size: CGSize =
            switch mode {
            case .scaleAspectFit: Self.scaled(natural, min(across, down))
            case .scaleAspectFill: Self.scaled(natural, max(across, down))
            case .scaleCenter: Self.scaled(natural, min(across, down, 1))
            case .scaleFill: frame
            }
        return Self.scaled(size, zoom)
    }

    private static func scaled(_ size: CGSize, _ factor: CGFloat) -> CGSize {
        CGSize(width: size.width * factor, height: size.height * factor)
    }

    /// Where the picture is in the frame; zero while one of the sizes is unknown.
    var place: CGRect {
        let size = shown
        guard size != .zero else { return .zero }
        return CGRect(
            x: (frame.width - size.width) / 2 + shift.x, y: (frame.height - size.height) / 2 + shift.y,
            width: size.width, height: size.height)
    }

    /// The same as options of mpv.
    var options: [String: String] {
        let size = shown
        return [
            "keepaspect": mode == .scaleFill ? "no" : "yes", "panscan": mode == .scaleAspectFill ? "1" : "0",
            "video-unscaled": mode == .scaleCenter ? "downscale-big" : "no",
            // mpv's zoom is the power of two, and its shift a part of the picture as it is shown.
            "video-zoom": "\(log2(Double(zoom)))",
            "video-pan-x": "\(size.width > 0 ? Double(shift.x / size.width) : 0)",
            "video-pan-y": "\(size.height > 0 ? Double(shift.y / size.height) : 0)",
        ]
    }
}
