/// Images and texts of a lecture, as a gateway describes them: generated on request, always the same bytes.
struct Extras: Sendable {
    /// Their path.
    static let path = "/extras/"
    /// One tile of the sheet in pixels, and how many there are; the sheet's name carries them.
    private static let tile = (width: 160, height: 90, count: 10)
    private static let sheet = "thumb-\(tile.width)x\(tile.height)x\(tile.count).jpg"
    private static let duration = 600

    let key: String

    /// Their members in a descriptor.
    ///
    /// - Parameter base: the server's address.
    /// - Returns: members, `company` among them.
    func members(base: String) -> [(String, JSON)] {
        func url(_ name: String) -> JSON { .string("\(base)\(Self.path)\(Text.percentEncoded(key))/\(name)") }
        func subtitle(_ name: String, _ language: String, isMachineMade: Bool) -> JSON {
            .object([
                ("name", .string(name)), ("language", .string(language)), ("url", url("\(language).vtt")),
                ("ai", .boolean(isMachineMade)),
            ])
        }
        func marks(_ titles: [String]) -> JSON {
            .array(
                titles.enumerated().map { number, title in
                    .object([
                        ("position", .integer(Int64(number * Self.duration / titles.count))), ("value", .string(title)),
                    ])
                })
        }
        func bookmark(_ position: Int64, _ title: String, _ kind: String) -> JSON {
            .object([("position", .integer(position)), ("title", .string(title)), ("kind", .string(kind))])
        }
        return [
            ("company", .string("Sandbox Academy")), ("synopsis", .string("What is in \(key), and why it is so.")),
            ("description_url", url("about.html")), ("duration", .integer(Int64(Self.duration))),
            ("width", .integer(1280)), ("height", .integer(720)), ("snapshot_url", url("snapshot.jpg")),
            ("thumbnail_url", url(Self.sheet)),
            (
                "subtitles",
                .array([
                    subtitle("한국어", "ko", isMachineMade: false), subtitle("English", "en", isMachineMade: true),
                ])
            ),
            (
                "chapters",
                .array([
                    .object([("language", .string("ko")), ("items", marks(["들어가며", "본론", "마치며"]))]),
                    .object([("language", .string("en")), ("items", marks(["Opening", "Main part", "Closing"]))]),
                ])
            ),
            ("bookmarks", .array([bookmark(30, "Definition", "index"), bookmark(95, "Ask about this", "user")])),
        ]
    }

    /// Answers `/extras/KEY/NAME`.
    ///
    /// - Parameter name: the last part of the path.
    /// - Returns: the answer; nil when there is no such file.
    func reply(_ name: String) -> Reply? {
        let file: (type: String, bytes: [UInt8])
        switch name {
        case "snapshot.jpg": file = ("image/jpeg", picture(columns: 80, rows: 45, tileColumns: 80))
        case Self.sheet:
            let columns = Self.tile.width / 8
            let sheet = GreyPicture(
                width: Self.tile.width * Self.tile.count, height: Self.tile.height, shade: shade(tileColumns: columns))
            file = ("image/jpeg", sheet.jpeg())
        case "ko.vtt": file = ("text/vtt; charset=utf-8", subtitles(["안녕하세요.", "오늘은 \(key)입니다."]))
        case "en.vtt": file = ("text/vtt; charset=utf-8", subtitles(["Hello.", "Today it is \(key)."]))
        case "about.html":
            let page = "<!DOCTYPE html>\n<html><head><title>About</title></head><body><p>\(key)</p></body></html>\n"
            file = ("text/html; charset=utf-8", Array(page.utf8))
        default: return nil
        }
        let fields = [("Content-Type", file.type), ("ETag", "\"\(key)-\(name)\"")]
        return Reply(status: 200, fields: fields, body: Body([.bytes(file.bytes)]))
    }

    private func picture(columns: Int, rows: Int, tileColumns: Int) -> [UInt8] {
        GreyPicture(width: columns * 8, height: rows * 8, shade: shade(tileColumns: tileColumns)).jpeg()
    }

    /// Tiles of different greys with a gradient, different for each lecture.
    private func shade(tileColumns: Int) -> (Int, Int) -> Int {
        let seed = key.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        return { column, row in (seed + column / tileColumns * 23 + column % tileColumns * 2 + row * 3) % 200 + 28 }
    }

    private func subtitles(_ lines: [String]) -> [UInt8] {
        var text = "WEBVTT\n"
        for (number, line) in lines.enumerated() {
            text += "\n00:00:0\(number * 4).000 --> 00:00:0\(number * 4 + 3).500\n\(line)\n"
        }
        return Array(text.utf8)
    }
}

/// An image of grey squares of eight pixels, as a baseline JPEG file (ITU-T T.81): each block has one coefficient.
struct GreyPicture {
    private let width: Int
    private let height: Int
    private let shade: (_ column: Int, _ row: Int) -> Int

    /// Makes an image.
    ///
    /// - Parameters:
    ///   - width: in pixels, at most 65,535.
    ///   - height: likewise.
    ///   - shade: the grey of a square, 0…255.
    init(width: Int, height: Int, shade: @escaping (_ column: Int, _ row: Int) -> Int) {
        (self.width, self.height, self.shade) = (width, height, shade)
    }

    /// The file.
    func jpeg() -> [UInt8] {
        var file: [UInt8] = [0xFF, 0xD8]
        segment(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0], &file)
        // Every step is 8: the one coefficient of a block is then its grey minus 128 (section A.3.3).
        segment(0xDB, [0] + [UInt8](repeating: 8, count: 64), &file)
        segment(0xC0, [8] + Self.pair(height) + Self.pair(width) + [1, 1, 0x11, 0], &file)
        segment(0xC4, [0x00] + Self.lengths(Self.categories.map(\.length)) + Array(0...11), &file)
        // The other coefficients have only the end of the block: the code 0.
        segment(0xC4, [0x10] + Self.lengths([1]) + [0], &file)
        segment(0xDA, [1, 1, 0, 0, 63, 0], &file)
        file += scan()
        return file + [0xFF, 0xD9]
    }

    private static func pair(_ number: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    private func segment(_ marker: UInt8, _ payload: [UInt8], _ file: inout [UInt8]) {
        file += [0xFF, marker] + Self.pair(payload.count + 2) + payload
    }

    /// The codes of differences by their count of bits: table K.3.
    private static let categories: [(code: Int, length: Int)] = [
        (0b00, 2), (0b010, 3), (0b011, 3), (0b100, 3), (0b101, 3), (0b110, 3), (0b1110, 4), (0b11110, 5),
        (0b111110, 6), (0b1111110, 7), (0b11111110, 8), (0b111111110, 9),
    ]

    /// The number of codes of each length.
    private static func lengths(_ lengths: [Int]) -> [UInt8] {
        (1...16).map { length in UInt8(lengths.count { $0 == length }) }
    }

    private func scan() -> [UInt8] {
        var bits = JPEGBits()
        var last = 0
        for row in 0..<(height + 7) / 8 {
            for column in 0..<(width + 7) / 8 {
                let value = shade(column, row) - 128
                let difference = value - last
                last = value
                let count = Int.bitWidth - difference.magnitude.leadingZeroBitCount
                bits.append(Self.categories[count].code, Self.categories[count].length)
                bits.append(difference < 0 ? difference - 1 : difference, count)
                bits.append(0, 1)
            }
        }
        return bits.finish()
    }
}

/// Bits of a scan, with a zero after each byte of ones (section F.1.2.3).
private struct JPEGBits {
    private var bytes: [UInt8] = []
    private var held = 0
    private var count = 0

    mutating func append(_ bits: Int, _ length: Int) {
        for place in stride(from: length - 1, through: 0, by: -1) {
            held = held << 1 | (bits >> place & 1)
            count += 1
            if count == 8 { flush() }
        }
    }

    private mutating func flush() {
        bytes.append(UInt8(held))
        if held == 0xFF { bytes.append(0) }
        (held, count) = (0, 0)
    }

    mutating func finish() -> [UInt8] {
        while count > 0 { append(1, 1) }
        return bytes
    }
}
