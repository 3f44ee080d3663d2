import LectureKit

/// A small file in memory, as a video engine reads it.
struct MemorySource: MediaSource {
    let bytes: [UInt8]

    var byteCount: Int64 { Int64(bytes.count) }

    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        let wanted = (range ?? 0..<byteCount).clamped(to: 0..<byteCount)
        try receive(Array(bytes[Int(wanted.lowerBound)..<Int(wanted.upperBound)]))
    }
}

/// Texts in the form of libass (Advanced SubStation Alpha).
enum AdvancedSubstation {
    /// A text over a picture that is 720 high. Nothing in it is read as a command.
    static func text(_ overlay: TextOverlay) -> String {
        let (red, green, blue) = (overlay.color >> 16 & 0xFF, overlay.color >> 8 & 0xFF, overlay.color & 0xFF)
        let transparency = Int(((1 - min(1, max(0, overlay.opacity))) * 255).rounded())
        let place = "\\an7\\pos(\(Int(overlay.position.x * 1280)),\(Int(overlay.position.y * 720)))"
        let color = "\\1c&H\(hex(blue))\(hex(green))\(hex(red))&\\alpha&H\(hex(UInt32(transparency)))&"
        let look = "\\fs\(overlay.fontSize)\\bord1\(color)"
        let plain = overlay.text.unicodeScalars.map { scalar in
            switch scalar {
            case "{": Unicode.Scalar(0xFF5B)
            case "}": Unicode.Scalar(0xFF5D)
            case "\\": Unicode.Scalar(0xFF3C)
            default: scalar.value < 0x20 ? " " : scalar
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: plain.compactMap(\.self))
        return "{\(place)\(look)}\(String(text))"
    }

    private static func hex(_ byte: UInt32) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count < 2 ? "0\(digits)" : digits
    }
}

/// Chapters in the form of FFmpeg's metadata files, which libmpv reads.
enum ChapterFile {
    /// The file; a chapter ends where the next one begins.
    static func text(_ chapters: [PlayerChapter]) -> String {
        var text = ";FFMETADATA1\n"
        for (number, chapter) in chapters.enumerated() {
            let start = chapter.start.milliseconds
            let next = number + 1 < chapters.count ? chapters[number + 1].start.milliseconds : start
            text += "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(start)\nEND=\(max(start, next))\n"
            text += "title=\(escaped(chapter.title))\n"
        }
        return text
    }

    /// What separates values is written with a backslash (ffmpeg-formats, "Metadata").
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "=", ";", "#", "\\": escaped += "\\\(character)"
            default: escaped.unicodeScalars.append(character.value < 0x20 ? " " : character)
            }
        }
        return escaped
    }
}
