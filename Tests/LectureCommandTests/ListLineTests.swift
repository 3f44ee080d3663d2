import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureCommand

/// The lines of `list` for programs that read no JSON: from fewer columns than a lecture has, and page by page.
@Suite(.timeLimit(.minutes(1))) struct ListLineTests {
    /// A lecture of every state and type, how far it is known, for every reason and with every form of an error.
    private static func contents() throws -> [Content] {
        var contents: [Content] = []
        for state in ItemState.allCases {
            for type in ContentType.allCases {
                for (committed, total) in [(0, nil), (5, 2000), (2000, 2000), (7, 0)] as [(Int64, Int64?)] {
                    var content = Content(
                        key: try ContentKey("k\(contents.count)"), sourceURL: "https://h.example/a.mp4?secret#x",
                        title: "선형대수\t\"1\"\u{1B}", state: state, added: Timestamp(milliseconds: 1))
                    (content.course, content.teacher, content.folder) = ("c", "t", "a/b")
                    (content.type, content.priority, content.position) = (type, contents.count - 50, 9)
                    (content.committedBytes, content.totalBytes) = (committed, total)
                    (content.committedChunks, content.totalChunks) = (2, contents.count.isMultiple(of: 2) ? 0 : 7)
                    (content.attempts, content.nextAttempt) = (3, Timestamp(milliseconds: 5))
                    (content.sha256, content.duration) = ([UInt8](repeating: 1, count: 32), .seconds(6))
                    content.completed = Timestamp(milliseconds: 7)
                    content.isOutdated = contents.count.isMultiple(of: 3)
                    content.isPlayable = content.isOutdated || state == .completed
                    contents.append(content)
                }
            }
        }
        let errors: [LectureError?] = [
            nil, LectureError(.serverWait), LectureError(.serverWait, detail: "h.example"),
            LectureError(.serverWait, cause: "\u{7} refused"), LectureError(.mediaMissing, detail: "k", cause: "gone"),
        ]
        for (index, reason) in StopReason.allCases.enumerated() {
            for error in errors {
                var content = contents[index]
                (content.key, content.state) = (try ContentKey("k"), .stopped)
                (content.stopReason, content.error) = (reason, error)
                contents.append(content)
            }
        }
        return contents
    }

    @Test func `a line shows nothing that is not read for it`() throws {
        let contents = try Self.contents()
        #expect(contents.count == 8 * 5 * 4 + StopReason.allCases.count * 5)
        for content in contents {
            var rows = SafeRows()
            content.withLine { ListCommand.append($0, to: &rows) }
            let line = String(decoding: rows.bytes, as: UTF8.self)
            #expect(line == SafeText.row(ListCommand.row(content)).text)
            #expect(line.utf8.count { $0 == 0x09 } == 6 && line.hasSuffix("\n"))
        }
    }

    @Test(arguments: [[0xFF], [0x61, 0xC3], [0xE2, 0x80, 0xA8], [0x1B, 0x5B, 0x6D], [0x09]] as [[UInt8]])
    func `a title that is no text, or no harmless one, stays in its column`(title: [UInt8]) throws {
        var line = ContentLine()
        line.setTexts(key: { $0 += Array("k1".utf8) }, title: { $0 += title })
        var rows = SafeRows()
        ListCommand.append(line, to: &rows)
        let text = try #require(String(validating: rows.bytes, as: UTF8.self))
        let values = text.dropLast().split(separator: "\t", omittingEmptySubsequences: false)
        #expect(values.count == 7 && values[0] == "k1" && text.hasSuffix("\n"))
        #expect(values[5] == TerminalText.neutralised(String(decoding: title, as: UTF8.self)))
    }

    @Test func `lines are written once and in order, whatever the pages`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        let settings = LectureConfiguration(storeDirectory: directory.file("store"))
        let first = try LectureManager(settings)
        let requests = try (0..<7).map { number in
            var request = DownloadRequest(url: "http://127.0.0.1:1/\(number).mp4")
            (request.key, request.priority) = (try ContentKey("k\(number)"), number % 3)
            return request
        }
        _ = try await first.downloads.enqueue(requests)
        await first.close()

        let manager = try LectureManager(settings)
        for sort in ContentSort.allCases {
            var pages = ContentPages(manager: manager, filter: ContentFilter(), sort: sort)
            let keys = try await pages.keys().map(\.text)
            #expect(keys.count == 7)
            for size in [1, 2, 3, 7, 8] {
                pages.pageSize = size
                for (offset, limit) in [(0, Int.max), (0, 1), (2, 3), (1, 100), (6, 2), (7, 1), (9, 9), (0, 0)] {
                    var written: [[String]] = []
                    try await pages.writeLines(offset: offset, limit: limit, to: [String]()) { line, lines in
                        lines.append(line.key.text)
                    } page: { lines in
                        written.append(lines)
                        lines.removeAll()
                    }
                    let due = Array(keys.dropFirst(offset).prefix(limit))
                    #expect(written.flatMap(\.self) == due, "\(size) by \(sort) from \(offset), \(limit)")
                    #expect(written.allSatisfy { $0.count <= size })
                }
            }
        }
        await manager.close()
    }
}
