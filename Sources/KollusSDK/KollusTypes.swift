// The enumerations of the iOS SDK: `NS_ENUM(NSInteger, …)` in its headers, so the raw values are `Int`, and the names
// are as Swift imports them.

/// The player for a content.
///
/// The cases keep their capital letter: they do not share the type's prefix, so the importer leaves them as they are.
public enum KollusPlayerType: Int, Sendable, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The SDK's own player.
    case PlayerTypeKollus = 0
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The system's player.
    case PlayerTypeNative = 1
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The player for HLS.
    case PlayerTypeHLS = 2
}

/// The type of a content.
public enum KollusContentType: Int, Sendable, CaseIterable {
    /// Streamed, not kept.
    case streaming = 0
    /// Kept as one file, whether it is complete or not.
    case downloading = 1
    /// A sample. Kept when everything is removed.
    case sample = 2
    /// Streamed with HLS.
    case adaptiveStreaming = 3
    /// Kept as an HLS playlist with its segments.
    case adaptiveDownload = 4
}

/// How a picture fills its view.
public enum KollusPlayerContentMode: Int, Sendable, CaseIterable {
    /// The whole picture, with bars if the shapes differ.
    case scaleAspectFit = 0
    /// The whole view, with parts of the picture cut off.
    case scaleAspectFill = 1
    /// The picture's own size; as ``scaleAspectFit`` where it is larger than the view.
    case scaleCenter = 2
    /// The whole picture in the whole view, distorted.
    case scaleFill = 3
}

/// Whether a player repeats at the end.
public enum KollusPlayerRepeatMode: Int, Sendable, CaseIterable {
    /// It stops.
    case none = 0
    /// It starts again.
    case one = 1
}

/// Who set a bookmark.
public enum KollusBookmarkKind: Int, Sendable, CaseIterable {
    /// The learner.
    case user = 0
    /// The teacher, as an index of the lecture.
    case index = 1
}
