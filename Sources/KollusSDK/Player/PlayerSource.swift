import LectureKit
import LectureModel
import LecturePlayer

/// What a player plays.
enum PlayerSource: Sendable {
    /// A downloaded content.
    case lecture(ContentKey)
    /// A URL.
    case stream(String)

    /// The content of the application's settings.
    ///
    /// - Throws: −2109 when there is none, −8613, −8621.
    init(_ settings: PlayerSettings, _ storage: StorageCore) throws {
        if let text = settings.mediaContentKey {
            self = .lecture(try StorageCore.key(text))
        } else if let url = settings.contentURL, !url.isEmpty {
            self = .stream(url)
        } else if let index = settings.contentIndex {
            guard let content = try storage.contents().first(where: { $0.contentIndex == index }) else {
                throw KollusError(.ERROR_NOT_FOUND_ID, detail: "\(index)")
            }
            self = .lecture(try StorageCore.key(content.mediaContentKey))
        } else {
            throw KollusError(.CONTENT_URL_IS_EMPTY)
        }
    }

    /// The key of a downloaded content.
    var key: ContentKey? { if case .lecture(let key) = self { key } else { nil } }

    /// Makes the library's player.
    func player(_ manager: LectureManager, _ engine: any VideoEngine, _ options: PlayerOptions) -> Player {
        switch self {
        case .lecture(let key): Player(manager, .lecture(key), engine: engine, options: options)
        case .stream(let url): Player(manager, .stream(url), engine: engine, options: options)
        }
    }
}
