import Foundation
import LectureKit
import LectureModel

/// What a `kollus:` link asks an application for.
public enum KollusLinkAction: Sendable {
    /// `kollus://download?url=…&folder=…`: these are loaded and their downloads have begun, in the link's order.
    case download([KollusLinkDownload])
    /// `kollus://path?url=…`: play this address.
    case play(url: String)
    /// `kollus://download_play?url=…`: play the local copy; nil when there is none, and then nothing is to be done.
    case playDownloaded(key: String?)
    /// `kollus://list?folder=…`: show this folder; nil for the top level.
    case list(folder: String?)
}

/// One content of a download link.
public struct KollusLinkDownload: Sendable {
    /// Its address.
    public let url: String
    /// Its media content key; nil when it could not be loaded.
    public let key: String?
    /// Why it is not being downloaded; nil when it is, or is complete already.
    public let error: KollusError?
}

extension KollusStorage {
    /// Does what a link asks for, as far as a storage can: the vendor's own application is addressed by such links, and
    /// one with the SDK reads them itself.
    ///
    /// - Parameter link: `kollus://download`, `kollus://download_play`, `kollus://list` or `kollus://path`.
    /// - Returns: what was done, or is left to the application. A content that cannot be had does not stop the others.
    /// - Throws: ``KollusError``: −8637 for what is no such link, −8614 before a start. `CancellationError` when the
    ///   task is cancelled.
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
                let content = try await manager.find(url)
                return .playDownloaded(key: content?.state == .completed ? content?.key.text : nil)
            } catch { throw KollusError.of(error) }
        case .download(let wishes):
            var downloads: [KollusLinkDownload] = []
            for wish in wishes { downloads.append(try await download(wish, manager)) }
            return .download(downloads)
        }
    }

    private func download(_ wish: DownloadRequest, _ manager: LectureManager) async throws -> KollusLinkDownload {
        var key: String?
        do {
            key = try await load(wish.url)
            try begin(wish, try Self.key(key), manager)
            return KollusLinkDownload(url: wish.url, key: key, error: nil)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let error = KollusError.of(error)
            let isUnderWay = error.kind == .ERROR_ALREADY_DOWNLOADING || error.kind == .ERROR_ALREADY_DOWNLOADED
            return KollusLinkDownload(url: wish.url, key: key, error: isUnderWay ? nil : error)
        }
    }
}
