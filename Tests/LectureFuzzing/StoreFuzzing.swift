import Foundation
import LectureModel
import LectureStore

/// The store's database after damage to the disk or changes by other programs.
extension FuzzTarget {
    static let stores = [FuzzTarget("store", longest: 512, cost: 200, store)]

    /// The bytes of a store made by this program.
    private static let sound: [UInt8] = {
        let location = StoreLocation(directory: "\(scratch)/sound")
        _ = try? StoreDatabase.openWriter(location, now: now)
        let data = FileManager.default.contents(atPath: "\(scratch)/sound/\(StoreLocation.databaseName)")
        return [UInt8](data ?? Data())
    }()

    /// Patches of a valid store: three bytes of offset, one of length, the bytes. The first byte of the input chooses:
    /// 1 cuts the file at the first offset, 2 makes the input itself the file, 3 the log beside it.
    private static func patched(_ input: [UInt8]) -> [UInt8] {
        let choice = input.first ?? 0
        if choice & 3 == 2 { return Array(input.dropFirst()) }
        var file = sound
        if choice & 3 == 3 { return file }
        var rest = input.dropFirst()
        var isFirst = true
        while rest.count >= 4 {
            let bytes = Array(rest.prefix(4))
            let place = (Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])) % max(1, file.count)
            rest = rest.dropFirst(4)
            let patch = rest.prefix(Int(bytes[3]))
            for (offset, byte) in patch.enumerated() where place + offset < file.count { file[place + offset] = byte }
            rest = rest.dropFirst(patch.count)
            if isFirst, choice & 3 == 1 { file.removeSubrange(place...) }
            isFirst = false
        }
        return file
    }

    @Sendable private static func store(_ input: [UInt8]) throws {
        try require(!sound.isEmpty, "a sound store can be made")
        let directory = place("store")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let path = "\(directory)/\(StoreLocation.databaseName)"
        let file = patched(input)
        try write(file, to: path)
        if (input.first ?? 0) & 3 == 3 { try write(Array(input.dropFirst()), to: "\(path)-wal") }
        let location = StoreLocation(directory: directory)
        var refusal: LectureError?
        do {
            let reader = try SQLiteContentQueries(opening: location)
            _ = try reader.contents(ContentFilter(), sort: .added, page: ContentPage())
            _ = try reader.status()
            _ = try StoreMaintenance.check(location)
        } catch let error as LectureError {
            refusal = error
        }
        let foreign: [LectureError.Code] = [.storeForeign, .storeNewer]
        // An empty file is not a store for a reader, and a new one for a writer.
        if let refusal, foreign.contains(refusal.code), !file.isEmpty {
            try require((try? StoreDatabase.openWriter(location, now: now)) == nil, "what readers refuse, writers do")
            let now = FileManager.default.contents(atPath: path).map { [UInt8]($0) }
            try require(now == file, "a foreign file is not touched")
        } else {
            do { _ = try StoreDatabase.openWriter(location, now: now) } catch is LectureError {}
        }
    }
}
