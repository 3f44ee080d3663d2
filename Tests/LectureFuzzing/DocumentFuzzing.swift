import LectureCommand
import LectureDownload
import LectureFormats
import LectureModel
import LectureRecords

/// JSON, and the gateway's response read from it.
extension FuzzTarget {
    static let documents = [
        FuzzTarget("json", longest: 1024, json), FuzzTarget("descriptor", longest: 2048, cost: 2, descriptor),
        FuzzTarget("json-line", longest: 256, jsonLine),
    ]

    @Sendable private static func json(_ input: [UInt8]) throws {
        let limits = JSONScanner.Limits(depth: 8, items: 100)
        var naive = JSONRecogniser(input)
        let isJSON = naive.recognise()
        do throws(LectureError) {
            let value = try JSONScanner.value(of: input, limits: limits)
            try FuzzFinding.unless(isJSON, "only JSON is read")
            try FuzzFinding.unless(naive.deepest <= limits.depth && naive.items <= limits.items, "limits hold")
            let written = value.text
            try FuzzFinding.unless(!FieldText.hasControls(written), "what is written is one line")
            let again = try JSONScanner.value(of: written, limits: limits)
            try FuzzFinding.unless(again.text.isSame(as: written) && again == value, "a value reads back")
        } catch {
            try require(error.code == .json, "\(error.code.name): \(error.detail)")
            let excuses = ["duplicate", "surrogate", "out of range", "not UTF-8", "levels", "items"]
            try require(!isJSON || excuses.contains { error.detail.contains($0) }, "JSON is read: \(error.detail)")
            guard isJSON else { return }
            try require(!error.detail.contains("levels") || naive.deepest > limits.depth, "depth is counted")
            try require(!error.detail.contains("items") || naive.items > limits.items, "items are counted")
        }
    }

    @Sendable private static func descriptor(_ input: [UInt8]) throws {
        let read: ContentDescriptor
        do throws(LectureError) {
            read = try ContentDescriptor(input)
        } catch {
            let known: [LectureError.Code] = [.descriptorEmpty, .nameRefused, .descriptorUnreadable]
            try require(known.contains(error.code), "a refusal is one of a descriptor: \(error.code.name)")
            try require(!FieldText.hasControls(error.message), "a refusal is one line")
            return
        }
        try require((try? ContentDescriptor(Array(read.source.text.utf8))) == read, "a descriptor reads back")
        if let key = read.key { try SafeName.check(key: key) }
        for url in read.mediaURLs + read.subtitles.map(\.url)
            + [read.snapshotURL, read.thumbnailURL].compactMap(\.self)
        {
            _ = try Origin(url: url)
        }
        for name in read.subtitles.compactMap(\.name) { try SafeName.check(name) }
        if let width = read.width { try require((0...100_000).contains(width), "a width is within its bounds") }
        let facts = read.facts
        try require((facts.key == nil) == (read.key == nil), "a key that is read is kept")
        if let duration = facts.duration { try require(duration >= .zero, "a duration is not negative") }
        if case .file(let file) = read.media {
            try require(file.sha256?.count ?? 32 == 32, "a digest has 32 bytes")
            try require(file.size ?? 0 <= UInt64(Int64.max), "a size has 63 bits")
        }
    }

    @Sendable private static func jsonLine(_ input: [UInt8]) throws {
        let message = text(input)
        let line = JSONLine.error(.json, message: message, key: String(message.prefix(20)))
        try require(line.hasSuffix("\n") && !FieldText.hasControls(line.dropLast()), "a line is one line")
        let value = try JSONScanner.value(of: String(line.dropLast()))
        try require(value["message"]?.string?.isSame(as: message) == true, "a message reads back")
    }
}

extension FuzzFinding {
    /// As `require`, where only our own errors may be thrown; the detail carries the property.
    static func unless(_ holds: Bool, _ property: String) throws(LectureError) {
        if !holds { throw LectureError(.parameter, detail: property) }
    }
}

/// An independent check of RFC 8259: whether a text follows its grammar, and nothing else. Unpaired surrogates and
/// duplicate names are valid.
struct JSONRecogniser {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var deepest = 0
    private(set) var items = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func recognise() -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        guard value(1) else { return false }
        space()
        return position == bytes.count
    }

    private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func space() { while [0x20, 0x09, 0x0A, 0x0D].contains(next) { position += 1 } }

    private mutating func takes(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func value(_ depth: Int) -> Bool {
        space()
        switch next {
        case UInt8(ascii: "{"): return container(depth, "{", "}", named: true)
        case UInt8(ascii: "["): return container(depth, "[", "]", named: false)
        case UInt8(ascii: "\""): return string()
        default: return takes("true") || takes("false") || takes("null") || number()
        }
    }

    private mutating func container(_ depth: Int, _ opening: String, _ closing: String, named: Bool) -> Bool {
        deepest = max(deepest, depth)
        // Deeper than any limit: whether the rest is JSON no longer matters, and the stack does.
        guard takes(opening), depth < 64 else { return false }
        space()
        if takes(closing) { return true }
        repeat {
            items += 1
            space()
            if named {
                guard string() else { return false }
                space()
                guard takes(":") else { return false }
            }
            guard value(depth + 1) else { return false }
            space()
        } while takes(",")
        return takes(closing)
    }

    private mutating func digits() -> Int {
        let start = position
        while (0x30...0x39).contains(next) { position += 1 }
        return position - start
    }

    private mutating func number() -> Bool {
        _ = takes("-")
        if !takes("0"), digits() == 0 { return false }
        if takes("."), digits() == 0 { return false }
        if takes("e") || takes("E") {
            if !takes("+") { _ = takes("-") }
            return digits() > 0
        }
        return true
    }

    private mutating func string() -> Bool {
        guard takes("\"") else { return false }
        while position < bytes.count {
            let byte = next
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                let escape = next
                position += 1
                if escape == UInt8(ascii: "u") {
                    guard position + 4 <= bytes.count,
                        bytes[position..<position + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
                    else { return false }
                    position += 4
                } else if !"\"\\/bfnrt".utf8.contains(escape) {
                    return false
                }
            default: break
            }
        }
        return false
    }
}
