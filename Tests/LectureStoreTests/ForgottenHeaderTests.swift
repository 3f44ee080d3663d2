import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Header fields may be credentials. The fixture has no device key, so they are stored in clear, and can be found.
@Suite struct ForgottenHeaderTests {
    private static let secret = "Bearer 7Dq2-a-credential-of-this-test"

    /// Whether the secret is anywhere in the database, once its log was moved into it, or in a copy of it.
    private static func isThere(_ store: StoreFixture) throws -> [Bool] {
        try store.index.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let copy = store.directory.file("copy-\(UUID().uuidString)")
        try StoreMaintenance.backup(store.location, to: copy)
        let database = "\(store.location.directory)/\(StoreLocation.databaseName)"
        return try [database, copy].map { try Data(contentsOf: URL(filePath: $0)).range(of: Data(secret.utf8)) != nil }
    }

    /// Lectures whose header fields are as long as that, so that some rows need pages of their own.
    private static func add(_ store: StoreFixture, padding: Int) throws -> [ContentID] {
        try (0..<8).map { number in
            try store.add("lecture-\(number)") { request in
                request.headers = ["Authorization": secret, "X-More": String(repeating: "x", count: padding)]
            }
        }
    }

    @Test(arguments: [10, 20_000])
    func `they are gone once the lecture is complete`(padding: Int) throws {
        try StoreFixture.with { store in
            let lectures = try Self.add(store, padding: padding)
            #expect(try Self.isThere(store) == [true, true])
            for lecture in lectures { try store.complete(lecture, "new-\(lecture.value)") }
            #expect(try Self.isThere(store) == [false, false])
            #expect(try lectures.allSatisfy { try store.item($0).headers.isEmpty })
        }
    }

    @Test(arguments: [10, 20_000])
    func `they are gone once the lecture is removed`(padding: Int) throws {
        try StoreFixture.with { store in
            for lecture in try Self.add(store, padding: padding) {
                try store.index.contents.deleteContent(try store.lease(lecture))
            }
            #expect(try Self.isThere(store) == [false, false])
        }
    }

    @Test func `a lecture that is not complete keeps them`() throws {
        try StoreFixture.with { store in
            let lectures = try Self.add(store, padding: 10)
            for lecture in lectures.dropFirst() { try store.complete(lecture, "new-\(lecture.value)") }
            #expect(try store.item(lectures[0]).headers["Authorization"] == Self.secret)
        }
    }
}
