import LectureFormats

/// How much a reader accepts.
package struct PlaylistLimits: Sendable {
    /// The most bytes of a playlist.
    package var bytes = 256 << 20
    /// The most lines of a playlist.
    package var lines = 8_000_000
    /// The most bytes of a line, also once its variables are replaced.
    package var lineBytes = 64 << 10
    /// The most variants, renditions, keys, maps, date ranges and variables, each.
    package var entries = 100_000

    /// Creates limits for playlists of a million segments; each can be changed.
    package init() {}
}

/// Reads an HLS playlist line by line, from pieces of any size. The rules are in docs/adaptive.md.
package struct PlaylistReader: Sendable {
    private let limits: PlaylistLimits
    private let imports: [PlaylistDefinition]
    private let query: String?
    /// The beginning of a line whose end is in the next piece.
    private var unfinished: [UInt8] = []
    private var bytes = 0
    private var line = 0
    private var head = PlaylistHead()
    private var variables: VariableTable
    private var isMultivariant: Bool?
    private var media: MediaBuilder
    private var multivariant: MultivariantBuilder

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: how much is accepted.
    ///   - imports: the variables of the multivariant playlist, for `EXT-X-DEFINE:IMPORT`.
    ///   - query: the query of the playlist's URL without its `?`, for `EXT-X-DEFINE:QUERYPARAM`.
    package init(limits: PlaylistLimits = PlaylistLimits(), imports: [PlaylistDefinition] = [], query: String? = nil) {
        self.limits = limits
        self.imports = imports
        self.query = query
        variables = VariableTable(limit: limits.lineBytes)
        media = MediaBuilder(limit: limits.entries)
        multivariant = MultivariantBuilder(limit: limits.entries)
    }

    /// Reads a whole playlist.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - limits: how much is accepted.
    ///   - imports: the variables of the multivariant playlist.
    ///   - query: the query of the playlist's URL without its `?`.
    /// - Returns: the playlist.
    /// - Throws: ``PlaylistError`` with the line and the reason.
    package static func playlist(
        _ bytes: [UInt8], limits: PlaylistLimits = PlaylistLimits(), imports: [PlaylistDefinition] = [],
        query: String? = nil
    ) throws(PlaylistError) -> Playlist {
        var reader = PlaylistReader(limits: limits, imports: imports, query: query)
        try reader.read(bytes[...])
        return try reader.finish()
    }

    /// Reads the next piece.
    ///
    /// - Parameter piece: the bytes after those of the piece before.
    /// - Throws: ``PlaylistError`` with the line and the reason; the reader is then not used again.
    package mutating func read(_ piece: ArraySlice<UInt8>) throws(PlaylistError) {
        bytes += piece.count
        guard bytes <= limits.bytes else {
            line += 1
            throw error(LineFault("the playlist is too long", kind: .limit))
        }
        var rest = piece
        while let end = rest.firstIndex(of: 0x0A) {
            if unfinished.isEmpty {
                try take(rest[..<end])
            } else {
                unfinished.append(contentsOf: rest[..<end])
                let whole = unfinished
                unfinished = []
                try take(whole[...])
            }
            rest = rest[(end + 1)...]
        }
        unfinished.append(contentsOf: rest)
        guard unfinished.count <= limits.lineBytes else {
            line += 1
            throw error(LineFault("the line is too long", kind: .limit))
        }
    }

    /// Ends the text.
    ///
    /// - Returns: the playlist.
    /// - Throws: ``PlaylistError`` when it is incomplete.
    package mutating func finish() throws(PlaylistError) -> Playlist {
        if !unfinished.isEmpty { try take(unfinished[...]) }
        guard line > 0 else { throw PlaylistError(.notAPlaylist, line: 1, "the text is empty") }
        do throws(LineFault) {
            switch isMultivariant {
            case true?: return .multivariant(try multivariant.finish(head, variables.definitions))
            case false?: return .media(try media.finish(head))
            case nil: throw LineFault("there are neither segments nor variants")
            }
        } catch { throw self.error(error) }
    }

    private func error(_ fault: LineFault) -> PlaylistError { PlaylistError(fault.kind, line: line, fault.reason) }

    private mutating func take(_ bytes: ArraySlice<UInt8>) throws(PlaylistError) {
        line += 1
        do throws(LineFault) {
            guard line <= limits.lines else { throw LineFault("there are too many lines", kind: .limit) }
            guard bytes.count <= limits.lineBytes else { throw LineFault("the line is too long", kind: .limit) }
            if line == 1 { return try begin(PlaylistText.trimmed(bytes)) }
            let text = PlaylistText.trimmed(bytes)
            guard let first = text.first else { return }
            if first != UInt8(ascii: "#") {
                try takeURI(text)
            } else if text.starts(with: "#EXT".utf8) {
                try takeTag(text)
            }
        } catch { throw self.error(error) }
    }

    private func begin(_ bytes: ArraySlice<UInt8>) throws(LineFault) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes
        let next = text.dropFirst(7).first
        guard text.starts(with: "#EXTM3U".utf8), next == nil || next == 0x20 || next == 0x09 else {
            throw LineFault("the text does not begin with #EXTM3U", kind: .notAPlaylist)
        }
    }

    private mutating func takeURI(_ text: ArraySlice<UInt8>) throws(LineFault) {
        let uri = try variables.expanded(text)
        guard PlaylistText.isURILine(uri) else { throw LineFault("the URI is unusable") }
        if multivariant.awaitsURI { return try multivariant.take(uri: uri) }
        guard isMultivariant != true else { throw LineFault("a URI has no EXT-X-STREAM-INF before it") }
        try media.take(uri: uri)
    }

    private mutating func takeTag(_ text: ArraySlice<UInt8>) throws(LineFault) {
        guard !PlaylistText.hasControls(text) else { throw LineFault("a tag has a control character") }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let value = PlaylistText.trimmed(text[colon...].dropFirst())
        if text[..<colon].elementsEqual("#EXTINF".utf8) {
            try settle(multivariant: false)
            return try media.take(duration: value)
        }
        guard text.starts(with: "#EXT-X-".utf8) else { return }
        let name = String(decoding: PlaylistText.trimmed(text[(text.startIndex + 7)..<colon]), as: UTF8.self)
        if try takeCommon(name, value) { return }
        if let tag = MediaTag(rawValue: name) {
            try settle(multivariant: false)
            return try media.take(tag, value, variables)
        }
        if let tag = MultivariantTag(rawValue: name) {
            try settle(multivariant: true)
            return try multivariant.take(tag, value, variables)
        }
    }

    private mutating func settle(multivariant: Bool) throws(LineFault) {
        guard isMultivariant != !multivariant else {
            throw LineFault("tags of a multivariant and of a media playlist are mixed")
        }
        isMultivariant = multivariant
    }

    /// Takes a tag that both kinds of playlists have; one that is malformed is ignored unless names depend on it.
    private mutating func takeCommon(_ name: String, _ value: ArraySlice<UInt8>) throws(LineFault) -> Bool {
        switch name {
        case "VERSION": head.version = PlaylistNumber.integer(value)
        case "INDEPENDENT-SEGMENTS": head.isIndependent = true
        case "START":
            guard let list = try? AttributeScanner.list(value, variables), let offset = list.text("TIME-OFFSET") else {
                return true
            }
            let isNegative = offset.utf8.first == UInt8(ascii: "-")
            let digits = Array(offset.utf8.dropFirst(isNegative ? 1 : 0))
            guard let nanoseconds = PlaylistNumber.nanoseconds(digits[...]) else { return true }
            head.start = PlaylistStart(
                nanoseconds: isNegative ? -nanoseconds : nanoseconds, isPrecise: list.isYes("PRECISE"))
        case "DEFINE": try define(AttributeScanner.list(value, variables))
        default: return false
        }
        return true
    }

    private mutating func define(_ list: AttributeList) throws(LineFault) {
        guard variables.definitions.count < limits.entries else {
            throw LineFault("there are too many variables", kind: .limit)
        }
        switch (list.text("NAME"), list.text("IMPORT"), list.text("QUERYPARAM")) {
        case (let name?, nil, nil):
            guard let value = list.text("VALUE") else { throw LineFault("a variable has no value") }
            try variables.define(name, value)
        case (nil, let name?, nil):
            guard let found = imports.first(where: { $0.name == name }) else {
                throw LineFault("a variable is not in the multivariant playlist")
            }
            try variables.define(name, found.value)
        case (nil, nil, let name?):
            guard let value = Self.parameter(name, in: query ?? "") else {
                throw LineFault("a variable is not in the query of the URL")
            }
            try variables.define(name, value)
        default: throw LineFault("EXT-X-DEFINE needs one of NAME, IMPORT and QUERYPARAM")
        }
    }

    /// The value of a parameter with its percent signs decoded; nil without one, or when it is not UTF-8.
    private static func parameter(_ name: String, in query: String) -> String? {
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pair[0].elementsEqual(name.utf8) else { continue }
            var bytes: [UInt8] = []
            var rest = pair.count > 1 ? Array(pair[1])[...] : []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"),
                    let pair = Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self)),
                    pair.count == 1
                {
                    bytes += pair
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(validating: bytes, as: UTF8.self)
        }
        return nil
    }
}
