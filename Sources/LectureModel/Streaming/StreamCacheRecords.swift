/// See ``ContentTable``.
package enum StreamItemTable {}
/// A row of `stream_item`: one version of media that is streamed.
package typealias StreamItemID = RowID<StreamItemTable>

/// One version of media, as the streaming cache knows it.
package struct StreamItem: Hashable, Sendable {
    /// Its row; names the directory of its blocks.
    package let id: StreamItemID
    /// The content; bound to the blocks.
    package let key: ContentKey
    /// The validator of the bytes, with their length.
    package let validator: Validator
    /// The key of the blocks, wrapped.
    package let wrapped: [UInt8]

    /// Takes a row.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - key: the content.
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

    /// Names a block.
    ///
    /// - Parameters:
    ///   - item: whose.
    ///   - index: its number, from 0.
    ///   - bytes: the length of its file.
    package init(item: StreamItemID, index: Int, bytes: Int64) {
        (self.item, self.index, self.bytes) = (item, index, bytes)
    }
}

/// What a change of the cache's rows leaves to be deleted from the disk, after the commit.
package struct StreamGarbage: Hashable, Sendable {
    /// Items whose directories go.
    package var items: [StreamItemID] = []
    /// Blocks whose files go.
    package var blocks: [StreamBlock] = []

    /// Nothing.
    package init() {}

    /// Whether there is nothing to delete.
    package var isEmpty: Bool { items.isEmpty && blocks.isEmpty }
}
