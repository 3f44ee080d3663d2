import LectureFormats
import LectureModel

/// The shape of a sheet of small pictures, which its file's name carries: `160x90x10` for ten tiles of 160 by 90
/// pixels. Players read it there, so the file on the disk carries it as well.
package enum TileGeometry {
    /// The most digits of one number.
    private static let longestNumber = 5

    /// The shape in the last part of a URL's path.
    ///
    /// - Parameter url: of the sheet.
    /// - Returns: three numbers with `x` between them; empty when the name carries none.
    package static func text(inURL url: String) -> String {
        guard let name = try? URLParts(url).lastPathPart else { return "" }
        let bytes = Array(name.utf8)
        for start in bytes.indices where start == 0 || !isDigit(bytes[start - 1]) {
            if let end = end(of: bytes, from: start) { return String(decoding: bytes[start..<end], as: UTF8.self) }
        }
        return ""
    }

    /// Whether a text is such a shape and nothing else, so that it may be part of a file's name.
    ///
    /// - Parameter text: any text.
    /// - Returns: false for the empty text too.
    package static func isShape(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return end(of: bytes, from: 0) == bytes.count
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The end of the three numbers that start at a position; nil without them.
    private static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var place = start
        for number in 0..<3 {
            if number > 0 {
                guard place < bytes.count, bytes[place] == UInt8(ascii: "x") else { return nil }
                place += 1
            }
            let digits = bytes[min(place, bytes.count)...].prefix(while: isDigit).count
            guard (1...longestNumber).contains(digits) else { return nil }
            place += digits
        }
        return place
    }
}
