import LectureFiles
import LectureModel

/// Names that become file names.
extension FuzzTarget {
    static let names = [FuzzTarget("names", longest: 300, checkNames)]

    @Sendable private static func checkNames(_ input: [UInt8]) throws {
        let value = text(input)
        let bytes = Array(value.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let arePlain = parts.allSatisfy { part in
            !part.isEmpty && part.count <= 255 && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
                && !part.contains { $0 < 0x20 || $0 == 0x7F }
        }
        if (try? SafeName.check(value)) != nil { try require(arePlain && parts.count == 1, "a name is one part") }
        if (try? SafeName.check(folder: value)) != nil { try require(arePlain, "a folder goes down") }
        guard let path = try? MediaPath(value) else { return }
        try require(arePlain && parts.count == 3, "a media path has three parts")
        try require(path.isPart == bytes.suffix(5).elementsEqual(".part".utf8), "a part file is known by its bytes")
        try require(path.text.isSame(as: path.isPart ? text(bytes.dropLast(5)) : value), "a media path reads back")
        try require((try? MediaPath(path.text)).map { $0.name.isSame(as: path.name) } == true, "it reads back")
    }
}
