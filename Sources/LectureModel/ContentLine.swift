/// What a line for people shows of a lecture. A list has one for all its rows: the texts of each are bytes in the same
/// memory, so that a row needs no memory of its own. It is lent, and cannot be copied.
package struct ContentLine: ~Copyable {
    /// The key, and behind it the title, as they are in the store: nearly always valid UTF-8.
    package private(set) var texts: [UInt8] = []
    private var keyCount = 0
    /// What a learner sees it as.
    package var type = ContentType.downloading
    /// The download state.
    package var state = ItemState.queued
    /// Why it is stopped; nil unless ``state`` is stopped.
    package var stopReason: StopReason?
    /// The last failure; nil without one.
    package var error: LectureError?
    /// −100 (last) … 100 (first).
    package var priority = 0
    /// Bytes of all its resources; nil until known.
    package var totalBytes: Int64?
    /// Verified bytes that are durable on disk.
    package var committedBytes: Int64 = 0
    /// Chunks of all its resources; 0 until known.
    package var totalChunks = 0
    /// Verified chunks that are durable on disk.
    package var committedChunks = 0
    /// Whether the version in the store is not the requested one.
    package var isOutdated = false

    /// Makes an empty line.
    package init() {}

    /// Where the key is in ``texts``.
    package var keyRange: Range<Int> { 0..<keyCount }
    /// Where the title is in ``texts``.
    package var titleRange: Range<Int> { keyCount..<texts.count }
    /// The key as a value.
    package var key: ContentKey { ContentKey(stored: String(decoding: texts[keyRange], as: UTF8.self)) }
    /// Whole percent of what is durable and verified, as ``Content/committedPercent``.
    package var committedPercent: Int? {
        Content.percent(
            state, type, bytes: committedBytes, of: totalBytes, chunks: committedChunks, ofChunks: totalChunks)
    }

    /// Replaces the texts.
    ///
    /// - Parameters:
    ///   - key: appends the key to what it gets.
    ///   - title: the same for the title.
    package mutating func setTexts(key: (inout [UInt8]) -> Void, title: (inout [UInt8]) -> Void) {
        texts.removeAll(keepingCapacity: true)
        key(&texts)
        keyCount = texts.count
        title(&texts)
    }
}
