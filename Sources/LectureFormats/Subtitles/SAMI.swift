/// Subtitles in SAMI (Synchronized Accessible Media Interchange, Microsoft, 2001), usual in Korea as files of `.smi`.
///
/// The form is HTML that was written by hand: what players accept is read, and not only what the specification has. A
/// file has one track for each class of its paragraphs, usually one for each language.
package struct SAMI: Hashable, Sendable {
    /// A text that is shown for a while.
    package struct Cue: Hashable, Sendable {
        /// When it is shown, in milliseconds.
        package let start: Int64
        /// When it is gone, in milliseconds; later than ``start``.
        package let end: Int64
        /// Lines of UTF-8, as WebVTT writes them: `&`, `<` and `>` as references, no blank line, no markup.
        package let text: [UInt8]
    }

    /// The texts of one class.
    package struct Track: Hashable, Sendable {
        /// The name that the style has for the class, else the class; empty for texts without one.
        package let name: String
        /// BCP 47, as the style has it; empty when unknown.
        package let language: String
        /// At least one, in the order of their starts.
        package let cues: [Cue]

        /// The track as a WebVTT file.
        package var webVTT: [UInt8] {
            var file = Array("WEBVTT\n\n".utf8)
            for cue in cues {
                file += "\(WebVTTTime.text(cue.start)) --> \(WebVTTTime.text(cue.end))\n".utf8
                file += cue.text
                file += "\n\n".utf8
            }
            return file
        }
    }

    /// Why a text is not read.
    package enum Refusal: Error, Hashable, Sendable, CaseIterable {
        /// It has no text that is shown at a time.
        case noCues
        /// It is longer than ``longest``, or has more than ``mostParagraphs``.
        case tooLong
    }

    /// The longest text that is read, in bytes.
    package static let longest = 8 << 20
    /// How many paragraphs a file may have.
    package static let mostParagraphs = 200_000
    /// How many classes are read; paragraphs of further ones are left out.
    package static let mostClasses = 32
    /// How long the last text of a track is shown when nothing ends it, in milliseconds.
    package static let lastCue: Int64 = 10_000
    /// The last time that is read, in milliseconds: 99:59:59.999.
    package static let latest: Int64 = 359_999_999

    /// The tracks, in the order in which the file has their classes.
    package let tracks: [Track]

    /// Reads a file, in a time and memory that grow with its length.
    ///
    /// - Parameter text: the file in UTF-8, with or without its mark.
    /// - Throws: ``Refusal``.
    package init(_ text: [UInt8]) throws(Refusal) {
        guard text.count <= Self.longest else { throw .tooLong }
        var reader = SAMIReader(text)
        try reader.read()
        tracks = reader.classes.tracks()
        if tracks.isEmpty { throw .noCues }
    }
}

/// A paragraph, until its end is known.
struct SAMIParagraph {
    let start: Int64
    /// When it says itself that it ends.
    let end: Int64?
    /// Empty for one that only ends the text before it.
    let text: [UInt8]
}

/// The classes of a file, and their paragraphs.
struct SAMIClasses {
    private struct Class {
        var name: String
        var language = ""
        var paragraphs: [SAMIParagraph] = []
    }

    private var all: [Class] = []
    private var places: [String: Int] = [:]
    private var count = 0

    /// Whether there is room for one more paragraph.
    var isFull: Bool { count >= SAMI.mostParagraphs }

    private mutating func place(_ name: String) -> Int? {
        let key = name.lowercased()
        if let known = places[key] { return known }
        guard all.count < SAMI.mostClasses else { return nil }
        places[key] = all.count
        all.append(Class(name: name))
        return all.count - 1
    }

    /// What a style says about a class.
    ///
    /// - Parameters:
    ///   - name: the class.
    ///   - title: its name for people; nil without one.
    ///   - language: its language; nil without one.
    mutating func declare(_ name: String, title: String?, language: String?) {
        guard let place = place(name) else { return }
        if let title, !title.isEmpty { all[place].name = title }
        if let language { all[place].language = language }
    }

    /// Adds a paragraph.
    ///
    /// - Parameters:
    ///   - paragraph: its text and times.
    ///   - name: its class; empty without one.
    mutating func add(_ paragraph: SAMIParagraph, to name: String) {
        guard let place = place(name) else { return }
        all[place].paragraphs.append(paragraph)
        count += 1
    }

    /// The tracks of the classes that show something. What has no class belongs to the first class that has one.
    func tracks() -> [SAMI.Track] {
        var classes = all
        if let bare = places[""] {
            let first = classes.indices.first { $0 != bare && !classes[$0].paragraphs.isEmpty }
            if let first = first ?? classes.indices.first(where: { $0 != bare }) {
                classes[first].paragraphs += classes[bare].paragraphs
                classes[bare].paragraphs = []
            }
        }
        return classes.compactMap { found in
            let cues = Self.cues(found.paragraphs)
            return cues.isEmpty ? nil : SAMI.Track(name: found.name, language: found.language, cues: cues)
        }
    }

    /// Each text is shown until the next paragraph of its class begins. Paragraphs with the same start are shown
    /// together.
    private static func cues(_ paragraphs: [SAMIParagraph]) -> [SAMI.Cue] {
        let order = paragraphs.indices.sorted { one, other in
            let (first, second) = (paragraphs[one].start, paragraphs[other].start)
            return first == second ? one < other : first < second
        }
        var cues: [SAMI.Cue] = []
        var next = 0
        while next < order.count {
            let start = paragraphs[order[next]].start
            var (text, stop): ([UInt8], Int64?) = ([], nil)
            while next < order.count, paragraphs[order[next]].start == start {
                let paragraph = paragraphs[order[next]]
                if !text.isEmpty, !paragraph.text.isEmpty { text.append(UInt8(ascii: "\n")) }
                text += paragraph.text
                if let end = paragraph.end, end > start { stop = max(stop ?? end, end) }
                next += 1
            }
            let following = next < order.count ? paragraphs[order[next]].start : nil
            let end = min(following ?? .max, stop ?? .max)
            guard !text.isEmpty else { continue }
            cues.append(SAMI.Cue(start: start, end: end == .max ? start + SAMI.lastCue : end, text: text))
        }
        return cues
    }
}
