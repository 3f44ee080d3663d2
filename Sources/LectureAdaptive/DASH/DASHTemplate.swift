import LectureFormats

/// An address with identifiers in it (ISO/IEC 23009-1 section 5.3.9.4.4).
struct DASHTemplate: Hashable, Sendable {
    /// What is put in.
    enum Identifier: Hashable, Sendable {
        case number
        case time
    }

    private enum Part: Hashable, Sendable {
        case text(String)
        case identifier(Identifier, width: Int)
    }

    private let parts: [Part]

    /// Whether the identifier is in the address.
    func uses(_ identifier: Identifier) -> Bool {
        parts.contains { if case .identifier(identifier, _) = $0 { true } else { false } }
    }

    /// Reads a template and puts in what is the same for all segments of a representation.
    ///
    /// - Parameters:
    ///   - text: the attribute.
    ///   - id: the representation's id, nil when it has none.
    ///   - bandwidth: its bits per second, nil when it has none.
    /// - Throws: ``DASHError`` for an identifier that does not exist, or has no value.
    init(_ text: String, id: String?, bandwidth: UInt64?) throws(DASHError) {
        let pieces = text.split(separator: "$", omittingEmptySubsequences: false)
        guard !pieces.count.isMultiple(of: 2) else {
            throw DASHError(.invalid, "an address has an unpaired '$'")
        }
        var parts: [Part] = []
        for (index, piece) in pieces.enumerated() {
            if index.isMultiple(of: 2) {
                if !piece.isEmpty { parts.append(.text(String(piece))) }
            } else if piece.isEmpty {
                parts.append(.text("$"))
            } else {
                parts.append(try Self.part(piece, id, bandwidth))
            }
        }
        self.parts = parts
    }

    private static func part(_ piece: Substring, _ id: String?, _ bandwidth: UInt64?) throws(DASHError) -> Part {
        let percent = piece.utf8.firstIndex(of: UInt8(ascii: "%")) ?? piece.endIndex
        let width = percent == piece.endIndex ? 1 : Self.width(piece[percent...])
        guard let width else {
            throw DASHError(.invalid, "an address has a width of a form that does not exist")
        }
        switch piece[..<percent] {
        case "RepresentationID":
            guard percent == piece.endIndex, let id else {
                throw DASHError(.invalid, "an address needs an id that is missing, or gives it a width")
            }
            return .text(id)
        case "Bandwidth":
            guard let bandwidth else { throw DASHError(.invalid, "an address needs a bandwidth that is missing") }
            return .text(padded(bandwidth, width))
        case "Number": return .identifier(.number, width: width)
        case "Time": return .identifier(.time, width: width)
        default:
            throw DASHError(.unsupported, "an address has an identifier that is not known")
        }
    }

    /// The width of `%0Nd`; nil for another form.
    private static func width(_ format: Substring) -> Int? {
        guard format.utf8.starts(with: "%0".utf8), format.utf8.last == UInt8(ascii: "d"),
            case .value(let width) = FieldText.decimal(format.dropFirst(2).dropLast()), width <= 32
        else { return format == "%d" ? 1 : nil }
        return Int(width)
    }

    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// The address of a segment.
    ///
    /// - Parameters:
    ///   - number: its number.
    ///   - time: its start in units of the timescale.
    /// - Returns: a reference, to be resolved.
    func reference(number: UInt64, time: UInt64) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .identifier(.number, let width): Self.padded(number, width)
            case .identifier(.time, let width): Self.padded(time, width)
            }
        }.joined()
    }
}
