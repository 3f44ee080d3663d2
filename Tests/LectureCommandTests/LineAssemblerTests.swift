import LectureCommand
import LectureTestSupport
import Testing

@Suite struct LineAssemblerTests {
    /// The lines of a text that arrives in blocks of some size; nil for one that is too long.
    private static func lines(_ text: String, limit: Int, blocks size: Int) -> [String?] {
        var assembler = LineAssembler(limit: limit)
        var lines: [[UInt8]?] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            assembler.take(Array(rest.prefix(size))) { lines.append($0) }
            rest = rest.dropFirst(size)
        }
        if let last = assembler.finish() { lines.append(last) }
        return lines.map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(
        "Lines are the same wherever the blocks are cut",
        arguments: [
            ("", []), ("\n", [""]), ("\n\n", ["", ""]), ("a", ["a"]), ("a\n", ["a"]), ("a\n\nb", ["a", "", "b"]),
            ("abcd\nefgh\n", ["abcd", "efgh"]), ("abcde\nf\n", [nil, "f"]), ("f\nabcde\n", ["f", nil]),
            ("abcde", [nil]), ("abcdefghij\nabcd\nabcde\n", [nil, "abcd", nil]), ("\r\n\0\n", ["\r", "\0"]),
        ] as [(String, [String?])])
    func cuts(text: String, lines: [String?]) {
        for size in 1...max(1, text.utf8.count) {
            #expect(Self.lines(text, limit: 4, blocks: size) == lines, "blocks of \(size)")
        }
    }

    @Test func `Any text gives what splitting it gives`() {
        var random = SeededGenerator(seed: 10)
        for _ in 0..<500 {
            let letters = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                Array("\nabcd").randomElement(using: &random) ?? "a"
            }
            let text = String(letters)
            var due = text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.count > 6 ? nil : String($0) }
            if due.last == "" { due.removeLast() }
            let size = Int.random(in: 1...70, using: &random)
            #expect(Self.lines(text, limit: 6, blocks: size) == due, "\(text), blocks of \(size)")
        }
    }
}
