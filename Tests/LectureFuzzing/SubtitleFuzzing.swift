import LectureFormats

/// Subtitles that browsers get as WebVTT.
extension FuzzTarget {
    static let subtitles = [FuzzTarget("sami", longest: 2048, cost: 2, sami)]

    @Sendable private static func sami(_ input: [UInt8]) throws {
        // The reader gets UTF-8: what has other bytes was converted, or refused.
        let source = Array(text(input).utf8)
        guard let read = try? SAMI(source) else { return }
        try require((1...SAMI.mostClasses).contains(read.tracks.count), "there are tracks, and not too many")
        for track in read.tracks {
            try require(!FieldText.hasControls(track.name), "a name is one line")
            try require(track.language.utf8.allSatisfy { $0 < 0x80 && $0 > 0x2C && $0 != 0x3C }, "a language is a name")
            try require(!track.cues.isEmpty, "a track shows something")
            var latest: Int64 = -1
            for cue in track.cues {
                try require(cue.start > latest && cue.end > cue.start, "cues are in order and last")
                try require(cue.start <= SAMI.latest && cue.end <= SAMI.latest + SAMI.lastCue, "times have their limit")
                latest = cue.start
                try check(cue.text)
            }
            try check(file: track.webVTT, cues: track.cues.count)
        }
    }

    private static func check(_ cue: [UInt8]) throws {
        try require(String(validating: cue, as: UTF8.self) != nil, "a text is UTF-8")
        try require(!cue.contains { $0 == 0x3C || $0 == 0x3E || $0 == 0x0D }, "a text has no markup")
        for line in lines(cue) {
            try require(!line.isEmpty && line.first != 0x20 && line.last != 0x20, "no line is blank")
            try require(!line.contains { $0 < 0x20 || $0 == 0x7F }, "a line has no control character")
        }
    }

    /// Reads the file as WebVTT: blocks between blank lines, each with one line of times.
    private static func check(file: [UInt8], cues: Int) throws {
        let blocks = text(file).split(separator: "\n\n")
        try require(blocks.first == "WEBVTT" && blocks.count == cues + 1, "a file has its head and its cues")
        for block in blocks.dropFirst() {
            let arrows = block.split(separator: "\n").count { $0.contains(" --> ") }
            try require(arrows == 1 && block.utf8.prefix(16).count == 16, "a cue has one line of times")
        }
    }
}
