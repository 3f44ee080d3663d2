import LectureModel
import LectureTestSupport
import Testing

@testable import LectureArchive

struct ArchiveLibraryTests {
    private typealias Opened = Result<ArchiveLibrary, ArchiveLibrary.Unusable>

    private static func opened(_ name: String) -> Opened {
        Result { () throws(ArchiveLibrary.Unusable) in try ArchiveLibrary(name) }
    }

    private static func failure<Value>(_ body: () throws(LectureError) -> Value) -> LectureError? {
        do throws(LectureError) { _ = try body() } catch { return error }
        return nil
    }

    @Test func `a machine without libarchive gets an error that names the file`() throws {
        let missing = Self.opened("liblecture-no-such-archive.so.13")
        let written = try #require(Self.failure { () throws(LectureError) in try Compressor(.gzip, missing) { _ in } })
        #expect(written.code == .writeFile && written.cause.contains("liblecture-no-such-archive.so.13"))
        let directory = try TemporaryDirectory()
        let path = try directory.write([1, 2, 3], to: "plain")
        let read = try #require(Self.failure { () throws(LectureError) in try Decompressor(path, missing) })
        #expect(read.code == .readFile && read.cause.contains("liblecture-no-such-archive.so.13"))
    }

    @Test func `a library without the functions is not used`() throws {
        let error = try #require(
            Self.failure { () throws(LectureError) in
                try Compressor(.zstd, Self.opened("libc.so.6")) { _ in }
            })
        #expect(error.code == .writeFile && error.cause.contains("archive_write_new"))
    }

    @Test func `the library of the machine has all functions`() throws {
        _ = try ArchiveLibrary.shared.get()
    }
}
