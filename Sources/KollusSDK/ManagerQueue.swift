import LectureKit
import LectureModel

/// Calls of the façades for code that runs on the manager's queue.
extension LectureManager {
    func lecture(_ key: ContentKey) throws -> Content? { try contents.assumeIsolated { try $0.find(key) } }

    func detail(_ key: ContentKey) throws -> ContentDetails? {
        try contents.assumeIsolated { try $0.details(of: key) }
    }

    func details(_ filter: ContentFilter, _ sort: ContentSort, _ page: ContentPage) throws -> [ContentDetails] {
        try contents.assumeIsolated { try $0.details(filter, sort: sort, page: page) }
    }

    /// What the manager is working on.
    var downloading: [DownloadProgress] { downloads.assumeIsolated { $0.active } }

    func isWanted(_ key: ContentKey) throws -> Bool { try downloads.assumeIsolated { try $0.isWanted(key) } }

    /// Loads a source without requesting a download.
    func loaded(_ url: String) async throws -> Content { try await downloads.load(url, asksForIt: false) }

    func request(_ request: DownloadRequest) throws { _ = try downloads.assumeIsolated { try $0.enqueue(request) } }

    func fetch(_ key: ContentKey) throws { try downloads.assumeIsolated { try $0.start(key) } }

    func pauseFetch(_ key: ContentKey) throws { try downloads.assumeIsolated { try $0.pause(key) } }

    func cancelFetch(_ key: ContentKey) throws { try downloads.assumeIsolated { try $0.cancel(key) } }
}
