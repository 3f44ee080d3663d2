import Foundation

/// The sandbox's bookmark server.
extension SandboxOrigin {
    /// Its URL.
    package var bookmarkURL: String { "\(http)/bookmarks" }

    /// Replaces the bookmarks of a lecture and a learner, as if they had been set elsewhere.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - user: the learner.
    ///   - bookmarks: a JSON array of what a server keeps.
    /// - Throws: ``ChildProcess/Failure`` when it is not understood.
    package func setBookmarks(_ key: String, user: String, _ bookmarks: String) async throws {
        let order = #"{"media_content_key":"\#(key)","client_user_id":"\#(user)","bookmarks":\#(bookmarks)}"#
        try await control("/_bookmarks", order)
    }

    /// Answers each request with this error; 0 for none.
    package func setBookmarkError(_ number: Int) async throws {
        try await control("/_bookmarks", #"{"error":\#(number)}"#)
    }

    /// How many changes were applied.
    package func bookmarkChanges() async throws -> Int {
        struct Counts: Decodable { let changes: Int }
        return try JSONDecoder().decode(Counts.self, from: Data(try await control("/_bookmarks").utf8)).changes
    }
}
