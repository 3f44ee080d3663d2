import Foundation
import LectureKit
import LectureModel

/// What a `kollus:` link requests from an application.
public enum KollusLinkAction: Sendable {
    /// `kollus://download?url=…&folder=…`: these are loaded and their downloads have started, in the link's order.
    case download([KollusLinkDownload])
    /// `kollus://path?url=…`: play this URL.
    case play(url: String)
    /// `kollus://download_play?url=…`: play the local copy; nil when there is none, and then there is nothing to do.
    case playDownloaded(key: String?)
    /// `kollus://list?folder=…`: show this folder; nil for the top level.
    case list(folder: String?)
}

/// One item of a download link.
public struct KollusLinkDownload: Sendable {
    /// Its URL.
    public let url: String
    /// Its media content key; nil when it could not be loaded.
    public let key: String?
    /// Why it is not being downloaded; nil when it is, or is complete already.
    public let error: KollusError?
}

extension KollusStorage {
    /// Carries out a link's request, as far as a storage can. Such links address the vendor's own application;
    /// applications with the SDK read them themselves.
    ///
    /// - Parameter link: `kollus://download`, `kollus://download_play`, `kollus://list` or `kollus://path`.
    /// - Returns: what was done, or is left to the application. A lecture that cannot be loaded does not stop the
    ///   others.
    /// - Throws: ``KollusError``: −8637 for other links, −8614 before a start. `CancellationError` when the task is
    ///   cancelled.
    public func open(_ link: String) async throws -> KollusLinkAction { try await core.open(link) }
}

extension StorageCore {
    func open(_ link: String) async throws -> KollusLinkAction {
        let manager = try manager()
        guard let read = try? KollusLink(link) else { throw KollusError(.ERROR_NO_USE_CONTENT_URL) }
        switch read {
        case .play(let url): return .play(url: url)
        case .list(let folder): return .list(folder: folder)
        case .downloadAndPlay(let url):
            do {
                let content = try await manager.contents.find(url: url)
                return .playDownloaded(key: content?.state == .completed ? content?.key.text : nil)
            } catch { throw KollusError.of(error) }
        case .download(let requests):
            var downloads: [KollusLinkDownload] = []
            for request in requests { downloads.append(try await download(request, manager)) }
            return .download(downloads)
        }
    }

    private func download(_ request: DownloadRequest, _ manager: LectureManager) async throws -> KollusLinkDownload {
        var key: String?
        do {
            key = try await load(request.url)
            try begin(request, try Self.key(key), manager)
            return KollusLinkDownload(url: request.url, key: key, error: nil)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let error = KollusError.of(error)
            let isUnderWay = error.kind == .ERROR_ALREADY_DOWNLOADING || error.kind == .ERROR_ALREADY_DOWNLOADED
            return KollusLinkDownload(url: request.url, key: key, error: isUnderWay ? nil : error)
        }
    }
}
