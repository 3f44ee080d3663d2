/// What a fuzz target found: a property that does not hold for some input.
package struct FuzzFinding: Error, CustomStringConvertible {
    /// Which property, and the actual value.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// One reader of foreign bytes and its invariants.
package struct FuzzTarget: Sendable {
    /// The name of its directory in `Tests/Fuzzing/corpus` and of its dictionary.
    package let name: String
    /// The longest input that is worth trying, in bytes.
    package let longest: Int
    /// How many times slower than the others it is; test runs are shorter by this factor.
    package let cost: Int
    private let body: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, longest: Int = 512, cost: Int = 1, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.longest = longest
        self.cost = cost
        self.body = body
    }

    /// Reads one input.
    ///
    /// - Parameter input: any bytes.
    /// - Throws: ``FuzzFinding`` when a property does not hold, and any error that a reader should not have thrown.
    package func run(_ input: [UInt8]) throws { try body(input) }

    /// Every target, by name.
    package static let all: [FuzzTarget] =
        (fields + heads + addresses + documents + lists + command + names + stores + licences + manifests + bundles
        + playlists + subtitles).sorted {
            $0.name < $1.name
        }

    /// The target with this name, nil when there is none.
    ///
    /// - Parameter name: as in ``name``.
    /// - Returns: the target.
    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Checks a property.
func require(_ holds: Bool, _ property: @autoclosure () -> String) throws {
    if !holds { throw FuzzFinding(property()) }
}

/// The bytes as text. Bytes that are not UTF-8 become U+FFFD, as they do where headers are read.
func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// The lines of an input, without their ends, at most this many; the last takes the rest.
func lines(_ bytes: [UInt8], most: Int = .max) -> [ArraySlice<UInt8>] {
    bytes.split(separator: 0x0A, maxSplits: most - 1, omittingEmptySubsequences: false)
}

extension StringProtocol {
    /// Whether two texts are the same bytes; `==` considers two spellings of one letter equal.
    func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// A number, read independently: digits only, at most 2^63 − 1.
func naiveNumber(_ bytes: some Collection<UInt8>) -> UInt64? {
    guard !bytes.isEmpty, bytes.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    let digits = bytes.drop { $0 == 0x30 }
    guard digits.count <= 19 else { return nil }
    return digits.isEmpty ? 0 : Int64(text(Array(digits))).map { UInt64($0) }
}
