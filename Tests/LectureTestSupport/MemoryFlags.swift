import Foundation

/// What the kernel keeps for the memory of this process.
package enum MemoryFlags {
    /// The flags of the mapping that contains an address, for instance `dd` or `hg` (proc(5), `smaps`, `VmFlags`).
    ///
    /// - Parameter address: a place in memory.
    /// - Returns: two letters each; none where the kernel does not know the address.
    /// - Throws: what reading the file throws.
    package static func find(at address: UInt) throws -> [String] {
        // Read to its end: a procfs file has no length.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps"))
        var isInside = false
        for line in String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = (words.first ?? "").split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 { isInside = (ends[0]..<ends[1]).contains(address) }
            if isInside, words.first == "VmFlags:" { return words.dropFirst().map(String.init) }
        }
        return []
    }
}
