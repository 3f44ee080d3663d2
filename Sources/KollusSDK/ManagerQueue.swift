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
}
