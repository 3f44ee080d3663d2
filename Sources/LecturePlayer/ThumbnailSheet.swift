/// A picture file with small pictures of a lecture, in equal distances, row by row: `…-160x90x100.jpg`.
public struct ThumbnailSheet: Sendable, Hashable {
    /// The absolute path of the file.
    public let path: String
    /// The width of a small picture in pixels.
    public let width: Int
    /// The height of a small picture in pixels.
    public let height: Int
    /// How many there are.
    public let count: Int

    /// Reads the numbers in a file's name: width, height and count, as `WxHxN` before the extension.
    ///
    /// - Parameter path: of the file. Nil without such numbers.
    public init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        let stem = name.split(separator: ".").dropLast().joined(separator: ".")
        let words = stem.split { !($0.isASCII && ($0.isNumber || $0 == "x")) }
        for word in words.reversed() {
            let parts = word.split(separator: "x", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { Int($0) }.filter { (1...100_000).contains($0) }
            guard parts.count == 3, numbers.count == 3 else { continue }
            (self.path, width, height, count) = (path, numbers[0], numbers[1], numbers[2])
            return
        }
        return nil
    }

    /// Which picture shows a position.
    ///
    /// - Parameters:
    ///   - position: from the start of the lecture.
    ///   - length: of the lecture.
    /// - Returns: from 0.
    public func index(at position: Duration, of length: Duration) -> Int {
        guard length > .zero else { return 0 }
        return min(count - 1, max(0, Int(position / length * Double(count))))
    }

    /// Where a picture is in the file.
    ///
    /// - Parameters:
    ///   - index: from 0.
    ///   - fileWidth: the width of the whole picture in pixels.
    /// - Returns: its left upper corner in pixels.
    public func origin(of index: Int, fileWidth: Int) -> (x: Int, y: Int) {
        let columns = max(1, fileWidth / width)
        return (index % columns * width, index / columns * height)
    }
}
