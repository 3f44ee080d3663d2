import LectureFormats

/// Which URI of a playlist, by its index.
package enum PlaylistName: Hashable, Sendable {
    /// Of a segment.
    case segment(Int)
    /// Of a media initialization section.
    case map(Int)
    /// Of a key: the index of its set, and its index in the set.
    case key(set: Int, Int)
    /// Of a variant.
    case variant(Int)
    /// Of a variant of I-frames.
    case iFrameVariant(Int)
    /// Of a rendition that has one.
    case rendition(Int)
    /// Of a key that is named beforehand.
    case sessionKey(Int)
    /// Of session data that has one.
    case sessionData(Int)
}

/// Writes playlists: what is read again is equal.
package struct PlaylistWriter {
    /// Gives the URI that is written in the place of another one.
    package typealias Naming = (_ name: PlaylistName, _ uri: String) -> String

    private var bytes: [UInt8] = []
    private let naming: Naming?

    /// Writes a playlist.
    ///
    /// - Parameters:
    ///   - playlist: the playlist.
    ///   - naming: new URIs; nil leaves them as they are.
    /// - Returns: UTF-8 with lines that end with LF.
    /// - Throws: ``PlaylistError`` of the kind `unwritable` for a value that would be read as something else: a URI
    ///   with a line break, a quoted string with a quote, a `{$NAME}`, an index without its map or keys, a segment
    ///   without a map after one with a map.
    package static func bytes(_ playlist: Playlist, naming: Naming? = nil) throws(PlaylistError) -> [UInt8] {
        var writer = PlaylistWriter(naming: naming)
        switch playlist {
        case .multivariant(let playlist): try writer.write(playlist)
        case .media(let playlist): try writer.write(playlist)
        }
        return writer.bytes
    }

    private init(naming: Naming?) { self.naming = naming }

    private static func refused(_ reason: String) -> PlaylistError { PlaylistError(.unwritable, line: 0, reason) }

    // MARK: Both kinds

    private mutating func write(_ head: PlaylistHead) {
        line("#EXTM3U")
        if let version = head.version { line("#EXT-X-VERSION:", version) }
        if head.isIndependent { line("#EXT-X-INDEPENDENT-SEGMENTS") }
        if let start = head.start {
            add("#EXT-X-START:TIME-OFFSET=")
            if start.nanoseconds < 0 { add("-") }
            seconds(start.nanoseconds.magnitude)
            line(start.isPrecise ? ",PRECISE=YES" : "")
        }
    }

    private mutating func line(_ text: String) {
        add(text)
        bytes.append(0x0A)
    }

    private mutating func line(_ text: String, _ number: Int64) {
        add(text)
        DecimalText.append(number, to: &bytes)
        bytes.append(0x0A)
    }

    private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Writes seconds with the digits that they need.
    private mutating func seconds(_ nanoseconds: UInt64) {
        DecimalText.append(Int64(nanoseconds / 1_000_000_000), to: &bytes)
        var fraction = nanoseconds % 1_000_000_000
        guard fraction > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        var scale: UInt64 = 100_000_000
        while fraction > 0 {
            bytes.append(0x30 + UInt8(truncatingIfNeeded: fraction / scale))
            fraction %= scale
            scale /= 10
        }
    }

    private mutating func list(_ tag: String, _ list: AttributeList) throws(PlaylistError) {
        add(tag)
        for (index, element) in list.elements.enumerated() {
            guard PlaylistText.isAttributeName(Array(element.name.utf8)[...]) else {
                throw Self.refused("an attribute has no usable name")
            }
            add("\(index > 0 ? "," : "")\(element.name)=")
            let text = Array(element.value.text.utf8)[...]
            guard VariableTable.reference(in: text) == nil else { throw Self.refused("a value is a reference") }
            switch element.value {
            case .quoted:
                guard PlaylistText.isQuotable(text) else { throw Self.refused("a value has a quote or a control") }
                bytes.append(UInt8(ascii: "\""))
                bytes.append(contentsOf: text)
                bytes.append(UInt8(ascii: "\""))
            case .plain:
                guard PlaylistText.isPlainValue(text) else { throw Self.refused("a value needs quotes") }
                bytes.append(contentsOf: text)
            }
        }
        bytes.append(0x0A)
    }

    /// The list with the new URI, if it has one.
    private func renamed(_ list: AttributeList, _ name: PlaylistName) -> AttributeList {
        guard let naming, let uri = list.text("URI") else { return list }
        var list = list
        list["URI"] = .quoted(naming(name, uri))
        return list
    }

    private mutating func uri(_ text: ArraySlice<UInt8>) throws(PlaylistError) {
        guard PlaylistText.isURILine(text), VariableTable.reference(in: text) == nil else {
            throw Self.refused("a URI cannot be a line of a playlist")
        }
        bytes.append(contentsOf: text)
        bytes.append(0x0A)
    }

    // MARK: Multivariant playlists

    private mutating func write(_ playlist: MultivariantPlaylist) throws(PlaylistError) {
        write(playlist.head)
        for definition in playlist.definitions {
            var attributes = AttributeList()
            attributes["NAME"] = .quoted(definition.name)
            attributes["VALUE"] = .quoted(definition.value)
            try list("#EXT-X-DEFINE:", attributes)
        }
        for (index, data) in playlist.sessionData.enumerated() {
            try list("#EXT-X-SESSION-DATA:", renamed(data, .sessionData(index)))
        }
        for (index, key) in playlist.sessionKeys.enumerated() {
            try list("#EXT-X-SESSION-KEY:", renamed(key.attributes, .sessionKey(index)))
        }
        for (index, rendition) in playlist.renditions.enumerated() {
            try list("#EXT-X-MEDIA:", renamed(rendition.attributes, .rendition(index)))
        }
        for (index, variant) in playlist.variants.enumerated() {
            try list("#EXT-X-STREAM-INF:", variant.attributes)
            try uri(Array((naming?(.variant(index), variant.uri) ?? variant.uri).utf8)[...])
        }
        for (index, variant) in playlist.iFrameVariants.enumerated() {
            var attributes = variant.attributes
            attributes["URI"] = .quoted(naming?(.iFrameVariant(index), variant.uri) ?? variant.uri)
            try list("#EXT-X-I-FRAME-STREAM-INF:", attributes)
        }
    }

    // MARK: Media playlists

    private mutating func write(_ playlist: MediaPlaylist) throws(PlaylistError) {
        write(playlist.head)
        line("#EXT-X-TARGETDURATION:", playlist.targetDuration)
        line("#EXT-X-MEDIA-SEQUENCE:", playlist.mediaSequence)
        if playlist.discontinuitySequence > 0 {
            line("#EXT-X-DISCONTINUITY-SEQUENCE:", playlist.discontinuitySequence)
        }
        if let type = playlist.type { line("#EXT-X-PLAYLIST-TYPE:\(type.rawValue)") }
        if playlist.isIFramesOnly { line("#EXT-X-I-FRAMES-ONLY") }
        for dates in playlist.dateRanges { try list("#EXT-X-DATERANGE:", dates) }
        var keySet: Int32 = -1
        var map: Int32 = -1
        for (index, row) in playlist.segments.rows.enumerated() {
            if row.flags.contains(.discontinuity) { line("#EXT-X-DISCONTINUITY") }
            if row.map != map {
                guard playlist.maps.indices.contains(Int(row.map)) else {
                    throw Self.refused("a segment has no map, but one before it has, or its map does not exist")
                }
                let value = playlist.maps[Int(row.map)]
                try change(&keySet, to: value.keySet.map { Int32(clamping: $0) } ?? -1, playlist)
                try list("#EXT-X-MAP:", renamed(value.attributes, .map(Int(row.map))))
                map = row.map
            }
            try change(&keySet, to: row.keySet, playlist)
            try write(row, index, playlist.segments)
        }
        if playlist.isEnded { line("#EXT-X-ENDLIST") }
    }

    private mutating func write(
        _ row: SegmentTable.Row, _ index: Int, _ segments: SegmentTable
    ) throws(PlaylistError) {
        if row.bitrate >= 0 { line("#EXT-X-BITRATE:", Int64(row.bitrate)) }
        if row.flags.contains(.isDated) {
            add("#EXT-X-PROGRAM-DATE-TIME:")
            guard row.date.count > 0 else { throw Self.refused("a date is empty") }
            try remark(segments.bytes(row.date))
        }
        if row.flags.contains(.gap) { line("#EXT-X-GAP") }
        if row.rangeEnd > row.rangeStart {
            add("#EXT-X-BYTERANGE:")
            DecimalText.append(Int64(clamping: row.rangeEnd - row.rangeStart), to: &bytes)
            line("@", Int64(clamping: row.rangeStart))
        }
        guard row.nanoseconds >= 0 else { throw Self.refused("a duration is negative") }
        add("#EXTINF:")
        seconds(row.nanoseconds.magnitude)
        add(",")
        try remark(segments.bytes(row.title))
        let text = segments.bytes(row.uri)
        if let naming {
            try uri(Array(naming(.segment(index), String(decoding: text, as: UTF8.self)).utf8)[...])
        } else {
            try uri(text)
        }
    }

    /// Writes the rest of a line that is for people.
    private mutating func remark(_ text: ArraySlice<UInt8>) throws(PlaylistError) {
        guard !PlaylistText.hasControls(text), PlaylistText.trimmed(text).count == text.count else {
            throw Self.refused("a title or a date has a control character or blanks around it")
        }
        bytes.append(contentsOf: text)
        bytes.append(0x0A)
    }

    /// Writes the tags that change the keys in force.
    private mutating func change(
        _ current: inout Int32, to wanted: Int32, _ playlist: MediaPlaylist
    ) throws(PlaylistError) {
        guard current != wanted else { return }
        guard wanted < 0 || playlist.keySets.indices.contains(Int(wanted)) else {
            throw Self.refused("the keys of a segment do not exist")
        }
        let before = current < 0 ? [] : playlist.keySets[Int(current)]
        let keys = wanted < 0 ? [] : playlist.keySets[Int(wanted)]
        // Keys replace those of their format in their place; otherwise all begin anew.
        let isReplacing =
            !keys.isEmpty && zip(before, keys).allSatisfy { $0.keyFormat == $1.keyFormat }
            && before.count <= keys.count
        if !isReplacing { line("#EXT-X-KEY:METHOD=NONE") }
        for (place, key) in keys.enumerated() where !isReplacing || place >= before.count || before[place] != key {
            try list("#EXT-X-KEY:", renamed(key.attributes, .key(set: Int(wanted), place)))
        }
        current = wanted
    }
}
