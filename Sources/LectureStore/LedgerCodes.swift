import LectureFormats
import LectureModel
import LectureSQLite

/// An unambiguous encoding of a row: every value with its kind and its length.
struct CodedBytes {
    /// The bytes so far.
    private(set) var bytes: [UInt8]

    /// Starts with a domain, so that the code of one table's row is not valid for another table.
    init(_ domain: [UInt8]) {
        bytes = []
        bytes.reserveCapacity(2048)
        append(octets: domain)
    }

    /// Drops all but the first `count` bytes, so that the memory is reused for the next row.
    mutating func cut(to count: Int) { bytes.removeSubrange(count...) }

    /// SQL NULL.
    mutating func appendNull() { bytes.append(0) }

    /// An INTEGER.
    mutating func append(number: Int64) { append(kind: 1, word: UInt64(bitPattern: number)) }

    /// A TEXT or a BLOB: the type of a column never changes.
    mutating func append(octets: some Collection<UInt8>) {
        append(kind: 2, word: UInt64(octets.count))
        bytes.append(contentsOf: octets)
    }

    /// A value to be stored in a column.
    mutating func append(_ value: SQLiteValue) {
        switch value {
        case .null: appendNull()
        case .integer(let number): append(number: number)
        case .real(let number): append(number: Int64(bitPattern: number.bitPattern))
        case .text(let text): append(octets: text.utf8)
        case .blob(let octets): append(octets: octets)
        }
    }

    /// A column of a row.
    mutating func append(_ row: borrowing Row, _ column: Int32, isNumber: Bool) {
        if row.isNull(column) { return appendNull() }
        if isNumber { return append(number: row.int64(column)) }
        unsafe row.withBlob(column) { octets in unsafe append(octets: octets) }
    }

    /// The coded value that begins at a place, with its kind and its length; empty at the end.
    func value(at place: Int) -> ArraySlice<UInt8> {
        guard place < bytes.count else { return [] }
        var count = 1
        if bytes[place] != 0 {
            count += 8
            let word = bytes[place + 1..<place + 9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if bytes[place] == 2 { count += Int(word) }
        }
        return bytes[place..<place + count]
    }

    private mutating func append(kind: UInt8, word: UInt64) {
        bytes.append(kind)
        unsafe withUnsafeBytes(of: word.bigEndian) { octets in unsafe bytes.append(contentsOf: octets) }
    }
}

/// A number modulo 2²⁵⁶.
///
/// The set of licences is protected by the sum of one such number each. A sum does not depend on the order, and
/// changing a licence costs a subtraction and an addition, however many others there are.
///
/// The numbers must stay secret. With visible numbers an attacker with old copies of many rows could find a mix of old
/// and new ones with the right sum far more cheaply than by brute force (Wagner, "A generalized birthday problem",
/// 2002): two versions of 100,000 rows each would suffice. So a number is a separate code that is never stored, and the
/// sum is stored masked by another one.
struct CodeSum: Hashable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Zero.
    init() {}

    /// A number of 32 bytes, big endian.
    init(_ bytes: [UInt8]) {
        func word(_ place: Int) -> UInt64 {
            bytes.dropFirst(8 * place).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        words = (word(3), word(2), word(1), word(0))
    }

    /// 32 bytes, big endian.
    var bytes: [UInt8] {
        [words.3, words.2, words.1, words.0].flatMap(\.bigEndianBytes)
    }

    static func += (left: inout Self, right: Self) {
        var carry: UInt64 = 0
        func add(_ one: inout UInt64, _ other: UInt64) {
            let (sum, over) = one.addingReportingOverflow(other)
            let (whole, overAgain) = sum.addingReportingOverflow(carry)
            (one, carry) = (whole, over || overAgain ? 1 : 0)
        }
        add(&left.words.0, right.words.0)
        add(&left.words.1, right.words.1)
        add(&left.words.2, right.words.2)
        add(&left.words.3, right.words.3)
    }

    static func -= (left: inout Self, right: Self) {
        // The two's complement: −x is ~x + 1.
        var negative = Self()
        negative.words = (~right.words.0, ~right.words.1, ~right.words.2, ~right.words.3)
        left += negative
        var one = Self()
        one.words.0 = 1
        left += one
    }

    static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        for word in [words.0, words.1, words.2, words.3] { hasher.combine(word) }
    }
}

/// The codes of one store's ledger, computed with the device's key.
struct LedgerCodes {
    private let authenticator: any RowAuthenticator
    private let licence, time, term, cover: [UInt8]

    /// - Parameters:
    ///   - authenticator: computes codes with the device's key.
    ///   - store: the store's UUID, part of all codes: rows of one store are not valid in another store of the same
    ///     device.
    init(_ authenticator: any RowAuthenticator, store: String) {
        self.authenticator = authenticator
        func domain(_ word: String) -> [UInt8] { Array("lecturekit/ledger/1/\(word):\(store)".utf8) }
        (licence, time) = (domain("licence"), domain("time"))
        (term, cover) = (domain("term"), domain("cover"))
    }

    /// The thumbprint of this device's key.
    var device: [UInt8] { authenticator.device }

    /// The start of a licence's coded form.
    func licenceForm() -> CodedBytes { CodedBytes(licence) }

    /// The code over a licence's columns.
    func code(_ values: [SQLiteValue]) -> [UInt8] {
        var form = licenceForm()
        for value in values { form.append(value) }
        return code(form)
    }

    /// The code over a coded form.
    func code(_ form: CodedBytes) -> [UInt8] { authenticator.code(form.bytes) }

    /// The term of a licence with this code in the sum.
    func term(_ code: [UInt8]) -> CodeSum {
        var form = CodedBytes(term)
        form.append(octets: code)
        return CodeSum(self.code(form))
    }

    /// The code over a row of the time ledger.
    func code(_ row: StoredTime) -> [UInt8] {
        var form = CodedBytes(time)
        for value in row.values { form.append(value) }
        return code(form)
    }

    /// The mask of the sum in a row of the time ledger. It is derived from everything else in the row, and no two rows
    /// have the same position in the chain and the same clocks.
    func cover(of row: StoredTime) -> CodeSum {
        var bare = row
        bare.coveredSum = []
        var form = CodedBytes(cover)
        for value in bare.values { form.append(value) }
        return CodeSum(code(form))
    }

    /// Compares in constant time.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
