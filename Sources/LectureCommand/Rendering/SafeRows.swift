import LectureFormats

/// Rows of values that are separated by tabs, in one buffer: a list of 100,000 rows then needs no text for each value.
///
/// Values are neutralised as those of a ``SafeText`` are, so that nothing in a title can begin a row of its own.
package struct SafeRows: Sendable {
    /// The rows as they are written; valid UTF-8.
    package private(set) var bytes: [UInt8] = []
    private var isRowEmpty = true

    /// Makes a buffer without rows.
    package init() {}

    /// Clears the rows and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        isRowEmpty = true
    }

    /// Appends a value to the current row.
    ///
    /// - Parameter value: any text.
    package mutating func append(_ value: String) {
        separate()
        var value = value
        let isPlain = value.withUTF8 { utf8 in
            guard unsafe utf8.allSatisfy(Self.isPlain) else { return false }
            unsafe bytes.append(contentsOf: utf8)
            return true
        }
        if !isPlain { bytes.append(contentsOf: TerminalText.neutralised(value).utf8) }
    }

    /// Appends a value to the current row without making a `String` of it.
    ///
    /// - Parameters:
    ///   - texts: UTF-8; what is not is replaced.
    ///   - range: where the value is.
    package mutating func append(_ texts: [UInt8], _ range: Range<Int>) {
        // Whether other bytes are valid is for `String` to say.
        guard TextBytes.arePrintable(texts, range) else {
            return append(String(decoding: texts[range], as: UTF8.self))
        }
        separate()
        bytes.append(contentsOf: texts[range])
    }

    /// Appends a number to the current row.
    ///
    /// - Parameter number: any number.
    package mutating func append(_ number: Int) {
        separate()
        DecimalText.append(Int64(number), to: &bytes)
    }

    /// Appends a number of bytes to the current row, as ``HumanText/byteCount(_:)`` writes it.
    ///
    /// - Parameter count: how many bytes.
    package mutating func append(byteCount count: Int64) {
        separate()
        QuantityText.append(byteCount: count, to: &bytes)
    }

    /// Appends a percentage to the current row.
    ///
    /// - Parameter percent: 0…100.
    package mutating func append(percent: Int) {
        append(percent)
        bytes.append(UInt8(ascii: "%"))
    }

    /// Ends the current row.
    package mutating func endRow() {
        bytes.append(0x0A)
        isRowEmpty = true
    }

    private mutating func separate() {
        if !isRowEmpty { bytes.append(0x09) }
        isRowEmpty = false
    }

    /// Whether a byte of UTF-8 is no part of a character that ``TerminalText/neutralised(_:)`` replaces. All of those
    /// beyond ASCII begin with one of three bytes; a text that has one is looked at by character.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x1F, 0x7F, 0xC2, 0xE2, 0xEF: false
        default: true
        }
    }
}

extension ByteSink {
    /// Writes rows.
    ///
    /// - Parameter rows: the rows.
    /// - Throws: ``OutputError`` when not all could be written.
    package func write(_ rows: SafeRows) throws(OutputError) { try write(rows.bytes) }
}
