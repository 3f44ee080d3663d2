import LectureFormats
package import LectureModel

/// A parameter of a request to a channel: a template before the macros are filled in, a value after.
package struct ReportParameter: Hashable, Sendable {
    /// The name that the channel expects.
    package let name: String
    /// The template or the value, not encoded.
    package let value: String

    /// Makes a parameter.
    ///
    /// - Parameters:
    ///   - name: the name that the channel expects.
    ///   - value: the template or the value, not encoded.
    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// Fills the macros of a channel's parameters with the values of one report.
///
/// A macro is a name of ASCII letters, digits and `_` in braces. Filled-in values are not read again, so a learner's
/// name cannot be a macro. Other braces are text.
///
/// | macro | value |
/// | --- | --- |
/// | `{CLIENT_USER_ID}` `{START_AT}` `{DURATION}` | as in the JSON |
/// | `{PLAY_TIME}` `{REAL_PLAYTIME}` `{PLAYTIME_PERCENT}` `{RUN_TIME}` | as in the JSON |
/// | `{MEDIA_CONTENT_KEY}` `{ENCODING_PROFILE_KEY}` `{DEVICE}` | as in the JSON |
/// | `{PLAY_STATUS}` | `play`, `pause` or `stop` |
/// | `{BLOCK_CNT}` | how many blocks |
/// | `{BLOCK_PLAY_n}` `{BLOCK_TIME_n}` | flag and seconds of block n, counted from 1; 0 if the lecture has fewer |
/// | `{PLAY_BLOCK_JSON}` | the object `block_info` |
/// | `{JSON_DATA}` | the whole report |
/// | `{TIMEMAP_DATA}` | which seconds were seen |
/// | `{USERVALUES}` | the object `uservalues` |
/// | `{USERVALUE0}`…`{USERVALUE99}` | that value of the user, empty if it is missing |
/// | any other name of a value of the user | that value; case does not matter here |
package struct MacroFiller: Sendable {
    /// A filled template.
    package struct Filled<Value: Sendable & Hashable>: Hashable, Sendable {
        /// The result, with every known macro filled in.
        package let value: Value
        /// The names of the unknown macros, which were left as they are, each once, in order.
        package let unknownMacros: [String]

        /// Makes a result.
        ///
        /// - Parameters:
        ///   - value: the filled template.
        ///   - unknownMacros: the names of the unknown macros.
        package init(value: Value, unknownMacros: [String]) {
            (self.value, self.unknownMacros) = (value, unknownMacros)
        }
    }

    private let values: any MacroValues

    /// Takes the values.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - source: who reports, and about which lecture.
    package init(report: PlayReport, source: ReportSource) { values = PlayMacros(report: report, source: source) }

    /// Takes the values of a stored report, as ``StoredMacros`` reads them.
    ///
    /// - Parameters:
    ///   - record: the report.
    ///   - document: another value for `{JSON_DATA}`; nil for the record's own.
    package init(_ record: ReportRecord, document: String? = nil) {
        values = StoredMacros(record, document: document)
    }

    /// Fills the parameters of a channel; their names are not changed.
    ///
    /// - Parameter parameters: names and templates.
    /// - Returns: names and values in the same order, and the unknown macros.
    package func fill(_ parameters: [ReportParameter]) -> Filled<[ReportParameter]> {
        var unknown: [String] = []
        let filled = parameters.map { ReportParameter($0.name, fill($0.value, &unknown)) }
        return Filled(value: filled, unknownMacros: unknown)
    }

    /// Fills one template.
    ///
    /// - Parameter template: text with macros.
    /// - Returns: the text, not encoded, and the unknown macros.
    package func fill(_ template: String) -> Filled<String> {
        var unknown: [String] = []
        let text = fill(template, &unknown)
        return Filled(value: text, unknownMacros: unknown)
    }

    private func fill(_ template: String, _ unknown: inout [String]) -> String {
        let bytes = Array(template.utf8)
        var filled: [UInt8] = []
        var position = 0
        while position < bytes.count {
            guard let end = endOfMacro(bytes, from: position) else {
                filled.append(bytes[position])
                position += 1
                continue
            }
            let name = String(decoding: bytes[position + 1..<end - 1], as: UTF8.self)
            if let value = values.value(of: name) {
                filled.append(contentsOf: value.utf8)
            } else {
                filled.append(contentsOf: bytes[position..<end])
                if !unknown.contains(name) { unknown.append(name) }
            }
            position = end
        }
        // Cut only next to braces, which are ASCII, so valid UTF-8 stays valid.
        return String(decoding: filled, as: UTF8.self)
    }

    /// The end of the macro that starts here; nil when none does.
    private func endOfMacro(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes[start] == UInt8(ascii: "{") else { return nil }
        var end = start + 1
        while end < bytes.count, Self.isNameByte(bytes[end]) { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "}"), end > start + 1 else { return nil }
        return end + 1
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// The values of macros.
protocol MacroValues: Sendable {
    /// The value of a macro, nil when its name is unknown.
    func value(of name: String) -> String?
}

/// The macros of a play in progress.
struct PlayMacros: MacroValues {
    let report: PlayReport
    let source: ReportSource

    func value(of name: String) -> String? {
        switch name {
        case "CLIENT_USER_ID": report.clientUserID
        case "START_AT": "\(report.startAt)"
        case "DURATION": "\(report.duration)"
        case "PLAY_TIME": "\(report.playtime)"
        case "REAL_PLAYTIME": "\(report.realPlaytime)"
        case "PLAYTIME_PERCENT": "\(report.playtimePercent)"
        case "RUN_TIME": "\(report.runtime)"
        case "MEDIA_CONTENT_KEY": source.mediaContentKey
        case "ENCODING_PROFILE_KEY": source.encodingProfile
        case "DEVICE": source.device
        case "PLAY_STATUS": report.status.rawValue
        case "BLOCK_CNT": "\(report.blocks.count)"
        case "PLAY_BLOCK_JSON": report.blockInfoJSON
        case "JSON_DATA": report.json(from: source)
        case "TIMEMAP_DATA": report.timeMapJSON
        case "USERVALUES": source.userValuesJSON
        default: blockValue(name) ?? userValue(name)
        }
    }

    private func blockValue(_ name: String) -> String? {
        for (prefix, read) in Self.blockMacros where name.hasPrefix(prefix) {
            guard let number = MacroName.number(name.dropFirst(prefix.count), in: 1...BlockGrid.mostBlocks) else {
                return nil
            }
            return number <= report.blocks.count ? "\(read(report.blocks[number - 1]))" : "0"
        }
        return nil
    }

    private func userValue(_ name: String) -> String? {
        MacroName.userValue(name, names: source.userValues.keys) { source.userValues[$0] }
    }

    private static let blockMacros: [(String, @Sendable (PlayReport.Block) -> Int64)] = [
        ("BLOCK_PLAY_", { $0.isPlayed ? 1 : 0 }), ("BLOCK_TIME_", { $0.seconds }),
    ]

}

/// Rules for the names of macros.
enum MacroName {
    /// The value of the user that a macro names.
    ///
    /// - Parameters:
    ///   - name: the macro.
    ///   - names: the names of all values.
    ///   - read: the value of a name.
    /// - Returns: the value; nil when the name is unknown.
    static func userValue(_ name: String, names: some Sequence<String>, _ read: (String) -> String?) -> String? {
        if let value = read(name) ?? read(FieldText.lowercased(name)) { return value }
        // Two names that differ only in case: the one that sorts first, so that the same report has the same bytes.
        if let other = names.filter({ FieldText.equal($0, name) }).min() { return read(other) }
        let prefix = "USERVALUE"
        guard name.utf8.count > prefix.utf8.count, FieldText.equal(name.prefix(prefix.count), prefix) else {
            return nil
        }
        return number(name.dropFirst(prefix.count), in: 0...99) == nil ? nil : ""
    }

    /// Digits without a leading zero.
    static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard case .value(let value) = FieldText.decimal(text), let number = Int(exactly: value),
            range.contains(number), "\(number)" == text
        else { return nil }
        return number
    }
}
