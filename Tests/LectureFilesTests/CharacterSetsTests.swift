import Foundation
import LectureFiles
import LectureTestSupport
import Testing

/// Texts in other character sets, compared with Python's own tables.
@Suite struct CharacterSetsTests {
    private static let texts = [
        "안녕하세요", "<SYNC Start=1><P>강의", "뷁쀍 똠방각하", "a가b나c", "漢字 かな", "①②③ ℃ ㎞", "가",
    ]

    private static func encoded(_ text: String, _ set: String) async throws -> [UInt8] {
        let program = "import sys; sys.stdout.buffer.write(sys.argv[1].encode(sys.argv[2]))"
        let ending = try await ChildProcess.run(try Places.command("python3"), ["-c", program, text, set])
        try #require(ending.status == 0, "\(ending.errorText)")
        return Array(ending.output)
    }

    @Test(arguments: texts)
    func `a text in any set that is read becomes UTF-8`(text: String) async throws {
        for set in ["utf-8", "utf-8-sig", "utf-16", "cp949"] {
            #expect(CharacterSets.utf8(try await Self.encoded(text, set)) == Array(text.utf8), "\(set)")
        }
        let big: [UInt8] = [0xFE, 0xFF]
        #expect(CharacterSets.utf8(big + (try await Self.encoded(text, "utf-16-be"))) == Array(text.utf8))
    }

    @Test func `EUC-KR is a part of CP949`() async throws {
        let text = "한국어 자막"
        #expect(CharacterSets.utf8(try await Self.encoded(text, "euc-kr")) == Array(text.utf8))
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x41], "a half unit"), ([0xFF, 0xFE, 0x00, 0xD8], "a surrogate alone"),
            ([0xFE, 0xFF, 0xDC, 0x00], "the other one"), ([0xB0], "a lead byte alone"),
            ([0x41, 0xB0, 0xA1, 0xC9], "at the end"),
            ([0x80], "no character"), ([0xFF, 0x41], "no lead byte"), ([0xB0, 0x20], "no second byte"),
            ([0xE9, 0x74, 0xE9], "Latin: été without its first letter"),
            ([0x83, 0x65, 0x81, 0x5B, 0x83, 0x75], "Shift JIS"),
        ] as [([UInt8], String)])
    func `what is text in none of them is refused`(bytes: [UInt8], what: String) {
        #expect(CharacterSets.utf8(bytes) == nil, "\(what)")
    }

    @Test func `nothing is nothing, and marks are left out`() {
        #expect(CharacterSets.utf8([]) == [])
        #expect(CharacterSets.utf8([0xEF, 0xBB, 0xBF]) == [] && CharacterSets.utf8([0xFF, 0xFE]) == [])
    }

    @Test func `a long text is converted as a whole`() async throws {
        let pair = try await Self.encoded("가", "cp949")
        var bytes: [UInt8] = []
        for _ in 0..<100_000 { bytes += pair }
        bytes.append(0x41)
        let text = try #require(CharacterSets.utf8(bytes))
        #expect(text == Array((String(repeating: "가", count: 100_000) + "A").utf8))
        #expect(CharacterSets.utf8(bytes + [0x80]) == nil)
    }

    @Test func `many threads convert at the same time`() async throws {
        let bytes = try await Self.encoded("안녕하세요", "cp949")
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { CharacterSets.utf8(bytes) == Array("안녕하세요".utf8) } }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// Every pair of bytes, and what Python makes of it.
    @Test func `the tables are those of another program`() async throws {
        let program = """
            import sys
            for lead in range(0x80, 0x100):
                for trail in range(0x100):
                    pair = bytes([lead, trail])
                    try: text = pair.decode('cp949')
                    except UnicodeDecodeError: continue
                    try: pair.decode('utf-8'); continue
                    except UnicodeDecodeError: pass
                    print(pair.hex(), text.encode('utf-8').hex())
            """
        let ending = try await ChildProcess.run(try Places.command("python3"), ["-c", program])
        let lines = ending.text.split(separator: "\n")
        #expect(lines.count > 16_000)
        var wrong: [Substring] = []
        for line in lines {
            let words = line.split(separator: " ").map { word in
                stride(from: 0, to: word.utf8.count, by: 2).compactMap { place in
                    UInt8(word.dropFirst(place).prefix(2), radix: 16)
                }
            }
            if CharacterSets.utf8(words[0]) != words[1] { wrong.append(line) }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
    }
}
