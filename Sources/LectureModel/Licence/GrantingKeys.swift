/// The keys whose signatures count for a licence, by their thumbprints: the one that granted it, and for the other kind
/// of grant those that the configuration had at that time, until one of them is used.
///
/// Callbacks and licence files are signed with different keys for the same lecture: a callback with the secret of the
/// account, a file with the key of an issuer.
package struct GrantingKeys: Hashable, Sendable {
    /// How many keys of one kind a licence remembers.
    package static let limit = 32

    /// Those that verify answers of callbacks.
    package let answers: [String]
    /// Those that verify licence files.
    package let files: [String]

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - answers: thumbprints of keys for answers; those beyond ``limit`` are left out, as are repetitions.
    ///   - files: thumbprints of keys for licence files, likewise.
    package init(answers: [String] = [], files: [String] = []) {
        (self.answers, self.files) = (Self.first(answers), Self.first(files))
    }

    private static func first(_ names: [String]) -> [String] {
        var kept: [String] = []
        for name in names where !kept.contains(name) && kept.count < limit { kept.append(name) }
        return kept
    }

    /// Reads the stored text. What is unreadable permits nothing.
    ///
    /// - Parameter stored: ``text``.
    package init(stored: String) {
        // By bytes: characters are costly to find, and a renewal reads thousands of these.
        let parts = stored.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts.map { $0.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) } }
        self.init(answers: names.first ?? [], files: names.count == 2 ? names[1] : [])
    }

    /// The stored text, never empty: the thumbprints for answers, a slash, those for files.
    package var text: String { "\(answers.joined(separator: " "))/\(files.joined(separator: " "))" }

    /// The same with other keys in the place of one.
    ///
    /// - Parameters:
    ///   - signer: the thumbprint that no longer counts.
    ///   - names: those that count in its place.
    /// - Returns: nil where it did not count.
    package func replacing(_ signer: String, by names: [String]) -> Self? {
        guard answers.contains(signer) || files.contains(signer) else { return nil }
        func replaced(_ list: [String]) -> [String] { list.flatMap { $0 == signer ? names : [$0] } }
        return Self(answers: replaced(answers), files: replaced(files))
    }

    /// The keys that two values have in common.
    package func common(with other: Self) -> Self {
        Self(answers: answers.filter(other.answers.contains), files: files.filter(other.files.contains))
    }

    /// What counts after an answer was accepted.
    ///
    /// - Parameters:
    ///   - signer: the key that signed it.
    ///   - old: what counted before; nil for nothing.
    ///   - configured: what the configuration has now.
    /// - Returns: the signer alone for answers.
    package static func afterAnswer(_ signer: String, _ old: Self?, configured: Self) -> Self {
        Self(answers: [signer], files: (old ?? configured).files)
    }

    /// What counts after a licence file was accepted.
    ///
    /// - Parameters:
    ///   - signer: the key that signed it.
    ///   - old: what counted before; nil for nothing.
    ///   - configured: what the configuration has now.
    /// - Returns: the signer alone for licence files.
    package static func afterFile(_ signer: String, _ old: Self?, configured: Self) -> Self {
        Self(answers: (old ?? configured).answers, files: [signer])
    }
}
