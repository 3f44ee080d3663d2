package import LectureFormats

/// See ``ContentTable``.
package enum StreamItemTable {}
/// A row of `stream_item`: one version of media that is streamed.
package typealias StreamItemID = RowID<StreamItemTable>

/// One version of media, as the streaming cache knows it.
package struct StreamItem: Hashable, Sendable {
    /// Its row; also the name of the directory of its blocks.
    package let id: StreamItemID
    /// The lecture; bound to the blocks.
    package let key: ContentKey
    /// The validator of the bytes, with their length.
    package let validator: Validator
    /// The key of the blocks, wrapped.
    package let wrapped: [UInt8]

    /// Creates a value from a row.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - key: the lecture.
    ///   - validator: of the bytes.
    ///   - wrapped: the key of the blocks.
    package init(id: StreamItemID, key: ContentKey, validator: Validator, wrapped: [UInt8]) {
        (self.id, self.key, self.validator, self.wrapped) = (id, key, validator, wrapped)
    }
}

/// A block of the streaming cache.
package struct StreamBlock: Hashable, Sendable {
    /// Whose block.
    package let item: StreamItemID
    /// Its number in the item, from 0.
    package let index: Int
    /// How many bytes its file has.
    package let bytes: Int64

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - item: whose.
    ///   - index: its number, from 0.
    ///   - bytes: the length of its file.
    package init(item: StreamItemID, index: Int, bytes: Int64) {
        (self.item, self.index, self.bytes) = (item, index, bytes)
    }
}

/// What is to be deleted from the disk after a committed change of the cache's rows.
package struct StreamGarbage: Hashable, Sendable {
    /// Items whose directories are to be deleted.
    package var items: [StreamItemID] = []
    /// Blocks whose files are to be deleted.
    package var blocks: [StreamBlock] = []

    /// Creates an empty value.
    package init() {}

    /// Whether there is nothing to delete.
    package var isEmpty: Bool { items.isEmpty && blocks.isEmpty }
}
