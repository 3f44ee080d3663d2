import LectureFiles
import LectureFormats
import LectureKit

/// Subtitles for browsers, which read WebVTT only.
enum WebSubtitles {
    /// One language of a file.
    struct Track: Sendable, Hashable {
        /// What the file calls it; empty when it says nothing.
        var name = ""
        /// What the file says, BCP 47; empty when it says nothing.
        var language = ""
        /// WebVTT.
        var text: [UInt8]
    }

    /// Why a file is not shown.
    enum Refusal: Error, Sendable, Hashable, CaseIterable {
        /// Its bytes are text in none of the character sets that are read.
        case encoding
        /// It is in no form that is read, or has no text.
        case form
        /// It is longer than subtitles are.
        case long

        /// The reason as a sentence.
        var pageText: PageText {
            switch self {
            case .encoding: .subtitlesEncoding
            case .form: .subtitlesForm
            case .long: .subtitlesLong
            }
        }
    }

    /// The tracks of a file: WebVTT, SubRip or SAMI; in UTF-8, UTF-16 with its mark, or CP949.
    ///
    /// - Parameter bytes: of the file.
    /// - Returns: at least one.
    /// - Throws: ``Refusal``.
    static func tracks(_ bytes: [UInt8]) throws(Refusal) -> [Track] {
        // What has to be converted is bounded before it is.
        guard bytes.count <= SAMI.longest || String(validating: bytes, as: UTF8.self) != nil else { throw .long }
        guard let text = CharacterSets.utf8(bytes) else { throw .encoding }
        return try tracks(text: text)
    }

    private static func tracks(text: [UInt8]) throws(Refusal) -> [Track] {
        if text.starts(with: "WEBVTT".utf8) { return [Track(text: text)] }
        // A remark in SAMI may look like the times of SubRip, which has no tag before its first time.
        let isMarkup = text.first { $0 > 0x20 } == UInt8(ascii: "<")
        if !isMarkup, let subRip = subRip(text) { return [Track(text: subRip)] }
        do throws(SAMI.Refusal) {
            return try SAMI(text).tracks.map { Track(name: $0.name, language: $0.language, text: $0.webVTT) }
        } catch {
            if isMarkup, let subRip = subRip(text) { return [Track(text: subRip)] }
            throw error == .tooLong ? .long : .form
        }
    }

    /// SubRip as WebVTT: it differs by its head, and by the comma in its times.
    private static func subRip(_ bytes: [UInt8]) -> [UInt8]? {
        let arrow = Array("-->".utf8)
        var (result, hasTimes) = (Array("WEBVTT\n\n".utf8), false)
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let words = line.split(separator: UInt8(ascii: " "))
            if words.count >= 3, words[1].elementsEqual(arrow), isTime(words[0]), isTime(words[2]) {
                hasTimes = true
                result += line.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
            } else {
                result += line
            }
            result.append(UInt8(ascii: "\n"))
        }
        return hasTimes ? result : nil
    }

    /// `00:01:02,500`.
    private static func isTime(_ word: ArraySlice<UInt8>) -> Bool {
        let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isDigits = word.allSatisfy { byte in
            (0x30...0x39).contains(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ",")
        }
        return parts.count == 3 && isDigits && parts[2].split(separator: UInt8(ascii: ",")).count == 2
    }
}

/// The subtitles of a lecture on its watch page.
struct WatchedSubtitles: Sendable, Hashable {
    /// One that a browser can show.
    struct Track: Sendable, Hashable {
        /// Its address below the lecture's subtitles: the number of the file, and that of the track from the second on.
        var path: String
        /// For people; empty when unknown.
        var name: String
        /// BCP 47; empty when unknown.
        var language: String
    }

    /// A file that is not shown.
    struct Refused: Sendable, Hashable {
        /// Its name; empty when unknown.
        var name: String
        /// Why.
        var reason: WebSubtitles.Refusal
    }

    /// In the order of the files.
    var tracks: [Track] = []
    /// Those that no browser can be given.
    var refused: [Refused] = []

    /// Finds out what can be shown.
    ///
    /// - Parameter kept: the files.
    init(_ kept: [KeptSubtitle]) {
        for (number, file) in kept.enumerated() {
            do throws(WebSubtitles.Refusal) {
                add(try WebSubtitles.tracks(file.bytes), of: file, number)
            } catch {
                refused.append(Refused(name: file.name, reason: error))
            }
        }
    }

    /// A file with one track has the name that the lecture gives it; of more, each has its own.
    private mutating func add(_ found: [WebSubtitles.Track], of file: KeptSubtitle, _ number: Int) {
        for (index, track) in found.enumerated() {
            let own = found.count > 1 || file.name.isEmpty ? track.name : file.name
            // The lecture says one language of a file, which is that of its only track.
            let given = found.count > 1 ? "" : file.language
            tracks.append(
                Track(
                    path: index == 0 ? "\(number)" : "\(number)/\(index)", name: own,
                    language: given.isEmpty ? track.language : given))
        }
    }
}
