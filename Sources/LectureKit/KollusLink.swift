import LectureDownload
public import LectureModel

/// A `kollus:` link that an application was opened with, read and not followed.
///
/// ```swift
/// switch try KollusLink(text) {
/// case .download(let requests): for request in requests { try await manager.downloads.enqueue(request) }
/// case .downloadAndPlay(let url), .play(let url): open(url)
/// case .list(let folder): show(folder)
/// }
/// ```
public enum KollusLink: Sendable {
    /// `kollus://download?url=…&folder=…`: download these, at least one, in their order.
    case download([DownloadRequest])
    /// `kollus://path?url=…`: play this.
    case play(url: String)
    /// `kollus://download_play?url=…`: download this and play it.
    case downloadAndPlay(url: String)
    /// `kollus://list?folder=…`: show this folder; nil for everything.
    case list(folder: String?)

    /// Reads a link, strictly: every parameter is known, every value percent-encoded UTF-8.
    ///
    /// - Parameter text: the link.
    /// - Throws: ``LectureError``: `urlInvalid` for another action, another parameter or a broken encoding, `urlScheme`
    ///   for a URL that is neither http nor https, `nameRefused` for a folder that could lead outside.
    public init(_ text: String) throws(LectureError) {
        switch try LectureDownload.KollusLink(text) {
        case .download(let items):
            self = .download(
                items.map { item in
                    var request = DownloadRequest(url: item.url)
                    request.folder = item.folder
                    return request
                })
        case .downloadAndPlay(let url): self = .downloadAndPlay(url: url)
        case .play(let item): self = .play(url: item.url)
        case .list(let folder): self = .list(folder: folder)
        }
    }

    /// Whether a text is such a link, even if it cannot be parsed.
    ///
    /// - Parameter text: any text.
    /// - Returns: true when it starts with `kollus:`.
    public static func isLink(_ text: String) -> Bool { LectureDownload.KollusLink.isLink(text) }
}
