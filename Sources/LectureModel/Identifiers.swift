/// The identity of a lecture (the media content key): opaque text, the same whatever URL it is downloaded from.
public struct ContentKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The key as text: 1…512 bytes of UTF-8 without control characters.
    public let text: String

    /// Checks and stores a key.
    ///
    /// - Parameter text: 1…512 bytes of UTF-8 without control characters.
    /// - Throws: ``LectureError`` with the code ``LectureError/Code/parameter``.
    public init(_ text: String) throws(LectureError) {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !text.isEmpty, text.utf8.count <= 512, isPlain else {
            throw LectureError(.parameter, detail: "content key", cause: "1 to 512 bytes without control characters")
        }
        self.text = text
    }

    /// A key from the store, where it was checked before storing.
    package init(stored text: String) { self.text = text }

    /// The key as text.
    public var description: String { text }

    /// Compares the texts.
    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// A row of one table. The phantom type keeps rows of different tables apart.
package struct RowID<Table>: Hashable, Sendable, Comparable {
    /// The row's number in its table.
    package let value: Int64
    /// Identifies a row.
    package init(_ value: Int64) { self.value = value }
    /// Compares the numbers.
    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

extension RowID where Table == ResourceTable {
    /// The directory of its files below `media`: 1,024 resources in each.
    package var bucket: String {
        let number = String(value / 1024, radix: 16)
        return String(repeating: "0", count: max(0, 4 - number.count)) + number
    }
}

/// The tables that rows belong to.
package enum ContentTable {}
/// See ``ContentTable``.
package enum VersionTable {}
/// See ``ContentTable``.
package enum ResourceTable {}
/// See ``ContentTable``.
package enum URLLeaseTable {}
/// See ``ContentTable``.
package enum OwnerTable {}
/// See ``ContentTable``.
package enum RunTable {}

/// A row of `content`.
package typealias ContentID = RowID<ContentTable>
/// A row of `version`.
package typealias VersionID = RowID<VersionTable>
/// A row of `resource`.
package typealias ResourceID = RowID<ResourceTable>
/// A row of `url_lease`.
package typealias URLLeaseID = RowID<URLLeaseTable>
/// A row of `owner`: one run of one program on this store.
package typealias OwnerID = RowID<OwnerTable>
/// A row of `run`: what one command wants.
package typealias RunID = RowID<RunTable>

/// One HTTP exchange of this process; never stored.
package struct TransferID: Hashable, Sendable {
    /// A running number; a process never reuses one.
    package let value: UInt64
    /// Identifies an exchange.
    package init(_ value: UInt64) { self.value = value }
}

/// The right to change one lecture: the row and the fencing number under which it was leased. A write with an older
/// number changes nothing and throws ``LectureError/Code/leaseLost``.
package struct ContentLease: Hashable, Sendable {
    /// The leased row.
    package let content: ContentID
    /// The fencing number it was leased under.
    package let fence: Int64
    /// Creates a lease.
    ///
    /// - Parameters:
    ///   - content: the leased row.
    ///   - fence: the fencing number it was leased under.
    package init(content: ContentID, fence: Int64) {
        self.content = content
        self.fence = fence
    }
}
