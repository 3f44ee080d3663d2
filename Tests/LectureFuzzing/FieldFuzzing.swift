import Foundation
import LectureFormats
import LectureModel

/// Values of single header fields.
extension FuzzTarget {
    static let fields = [
        FuzzTarget("content-range", longest: 128, contentRange), FuzzTarget("content-length", contentLength),
        FuzzTarget("retry-after", longest: 128, retryAfter), FuzzTarget("http-date", longest: 64, httpDate),
        FuzzTarget("digest-fields", digestFields), FuzzTarget("entity-tag", longest: 256, entityTag),
        FuzzTarget("media-type", longest: 128, mediaType), FuzzTarget("binary-text", longest: 256, binaryText),
    ]

    /// The time of every answer here: 2026-01-01T00:00:00Z.
    static let now = Timestamp(milliseconds: 1_767_225_600_000)

    @Sendable private static func contentRange(_ input: [UInt8]) throws {
        let value = text(input)
        let read = try? ContentRange(value)
        try require(read == naiveContentRange(Array(value.utf8)), "two readers agree about a Content-Range")
        let canonical: String
        switch read {
        case .part(let range, let total):
            try require(range.start < range.end && range.end <= UInt64(Int64.max), "a part lies within 63 bits")
            try require(range.end <= total ?? .max, "a part ends before the total")
            canonical = "bytes \(range.start)-\(range.end - 1)/\(total.map { "\($0)" } ?? "*")"
        case .unsatisfied(let total): canonical = "bytes */\(total)"
        case nil: return
        }
        try require((try? ContentRange(canonical)) == read, "a canonical Content-Range reads back")
    }

    private static func naiveContentRange(_ bytes: [UInt8]) -> ContentRange? {
        guard bytes.count > 6, text(bytes[..<5]).lowercased() == "bytes", bytes[..<5].allSatisfy({ $0 < 0x80 }),
            bytes[5] == 0x20, let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash >= 6
        else { return nil }
        let place = bytes[6..<slash]
        let end = bytes[(slash + 1)...]
        let total = naiveNumber(end)
        guard total != nil || Array(end) == [UInt8(ascii: "*")] else { return nil }
        if Array(place) == [UInt8(ascii: "*")] { return total.map { .unsatisfied(total: $0) } }
        guard let dash = place.firstIndex(of: UInt8(ascii: "-")), let first = naiveNumber(place[..<dash]),
            let last = naiveNumber(place[(dash + 1)...]), last < UInt64(Int64.max), last < total ?? .max,
            let range = ByteRange(start: first, end: last + 1)
        else { return nil }
        return .part(range, total: total)
    }

    @Sendable private static func contentLength(_ input: [UInt8]) throws {
        let values = lines(input, most: 8).map { text($0) }
        let read = try? ContentLength(values)
        let parts = values.flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
                naiveNumber(Array(part.trimmed { $0 == 0x20 || $0 == 0x09 }))
            }
        }
        let isOne = Set(parts).count == 1
        try require((read?.count ?? nil) == (isOne ? parts[0] : nil), "two readers agree about a Content-Length")
        if let count = read?.count { try require(count <= UInt64(Int64.max), "a length has 63 bits") }
    }

    @Sendable private static func retryAfter(_ input: [UInt8]) throws {
        let parts = lines(input, most: 2).map { text($0) }
        let date = parts.count > 1 ? HTTPDate(parts[1], now: now)?.time : nil
        guard let wait = RetryAfter(parts[0], now: now, serverDate: date) else {
            try require(naiveNumber(parts[0].utf8) == nil, "digits are a wait")
            return
        }
        try require(wait.delay >= .zero && wait.delay <= RetryAfter.maximum, "a wait is within its bounds")
        if let seconds = naiveNumber(parts[0].utf8) {
            let due = Duration.seconds(min(seconds, UInt64(RetryAfter.maximum.components.seconds)))
            try require(wait.delay == due, "a number of seconds is a wait of as many")
        }
    }

    @Sendable private static func httpDate(_ input: [UInt8]) throws {
        guard let date = HTTPDate(text(input), now: now) else { return }
        let seconds = date.time.milliseconds / 1000
        try require(date.time.milliseconds % 1000 == 0, "a date is whole seconds")
        // The independent check is the C library's.
        var instant = time_t(seconds)
        var civil = unsafe tm()
        unsafe gmtime_r(&instant, &civil)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = unsafe strftime(&buffer, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &civil)
        let year = unsafe Int(civil.tm_year) + 1900
        let written = text(buffer[..<count].map { UInt8(bitPattern: $0) })
        // strftime writes the year without zeros before it.
        let due = year < 1000 ? nil : written
        try require(due == nil || due == date.headerValue, "the date is \(due ?? ""), not \(date.headerValue)")
        try require(HTTPDate(date.headerValue, now: now) == date, "a written date reads back")
    }

    @Sendable private static func digestFields(_ input: [UInt8]) throws {
        let values = lines(input, most: 4).map { text($0) }
        let names = ["Repr-Digest", "Digest", "Repr-Digest", "Content-Digest"]
        let fields = HeaderFields(zip(names, values).map { HeaderField(name: $0, value: $1) })
        guard let digest = DigestFields.sha256(in: fields) else { return }
        try require(digest.count == 32, "a SHA-256 has 32 bytes")
        let spelling = Data(digest).base64EncodedString()
        try require(values.prefix(3).contains { $0.contains(spelling) }, "a digest stands in a field")
    }

    @Sendable private static func entityTag(_ input: [UInt8]) throws {
        let parts = lines(input, most: 4).map { text($0) }
        for part in parts {
            guard let tag = EntityTag(part) else { continue }
            try require(tag.headerValue.isSame(as: part), "a tag is written as it was read")
            try require(tag.isStrong != part.hasPrefix("W/"), "W/ makes a tag weak")
        }
        let heads = [0, 2].map { start in
            var fields: HeaderFields = ["Date": "Thu, 01 Jan 2026 00:00:00 GMT"]
            for (name, value) in zip(["ETag", "Last-Modified"], parts.dropFirst(start)) {
                fields.append(HeaderField(name: name, value: value))
            }
            return Validator(ResponseHead(status: 200, fields: fields, receivedAt: now), total: nil)
        }
        try require(heads[0].agrees(with: heads[1]) == heads[1].agrees(with: heads[0]), "agreement is symmetric")
        try require(heads[0].agrees(with: heads[0]) != .different, "a validator does not differ from itself")
        if heads[0].isStrong {
            try require(heads[0].agrees(with: heads[0]) == .same, "a strong validator agrees with itself")
        }
        if let value = heads[0].ifRangeValue {
            try require(!value.hasPrefix("W/") && !FieldText.hasControls(value), "If-Range is strong and one line")
        }
    }

    @Sendable private static func mediaType(_ input: [UInt8]) throws {
        guard let type = MediaType(text(input)) else { return }
        let essence = Array(type.essence.utf8)
        try require(essence.filter { $0 == UInt8(ascii: "/") }.count == 1, "a media type has one slash")
        try require(
            essence.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }, "it is lower-case ASCII")
        try require(MediaType(type.essence) == type, "a media type reads back")
    }

    @Sendable private static func binaryText(_ input: [UInt8]) throws {
        let value = text(input)
        let due = Data(base64Encoded: value).flatMap { $0.base64EncodedString() == value ? [UInt8]($0) : nil }
        try require(Base64.bytes(value) == due, "two readers agree about base 64")
        if let bytes = Hexadecimal.bytes(value) {
            try require(Hexadecimal.text(bytes).isSame(as: FieldText.lowercased(value)), "digits read back")
        }
        try require(Hexadecimal.bytes(Hexadecimal.text(input)) == input, "bytes read back")
    }
}

extension BidirectionalCollection {
    /// Without the matching elements at both ends.
    func trimmed(_ fits: (Element) -> Bool) -> SubSequence {
        var rest = self[...]
        while let first = rest.first, fits(first) { rest = rest.dropFirst() }
        while let last = rest.last, fits(last) { rest = rest.dropLast() }
        return rest
    }
}
