/// Where a player shows a lecture in memory: an application draws its pictures itself, or sends them elsewhere.
///
/// Two of them are equal if they are the same object.
public final class PlayerFrames: Sendable {
    /// The width in pixels; the picture is scaled, with bars where the shape differs.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    let receive: @Sendable (PlayerFrame) -> Void

    /// The largest width and height.
    public static let largest = 16_384

    /// Creates a place for pictures.
    ///
    /// - Parameters:
    ///   - width: in pixels, 1 to ``largest``; others are changed to the nearest.
    ///   - height: as the width.
    ///   - receive: gets each picture when it is due, with subtitles and watermark; one call at a time, on a queue of
    ///     the player's. While it runs, later pictures are left out.
    public init(width: Int, height: Int, receive: @escaping @Sendable (PlayerFrame) -> Void) {
        self.width = min(max(1, width), Self.largest)
        self.height = min(max(1, height), Self.largest)
        self.receive = receive
    }
}

extension PlayerFrames: Hashable {
    /// Whether it is the same object.
    public static func == (one: PlayerFrames, other: PlayerFrames) -> Bool { one === other }

    /// Hashes the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A picture of a lecture.
public struct PlayerFrame: Sendable, Hashable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Row by row from the top, four bytes a pixel: red, green, blue, and one that means nothing.
    public let pixels: [UInt8]
}
