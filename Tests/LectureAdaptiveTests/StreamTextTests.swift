import LectureAdaptive
import LectureFormats
import LectureModel
import Testing

@testable import LectureXML

struct StreamTextTests {
    @Test func `a manifest is known by its first character, in each encoding`() throws {
        let utf16 = "<?xml version='1.0' encoding='UTF-16'?><MPD/>".utf16
        let texts: [[UInt8]] = [
            Array("<MPD/>".utf8), Array("\u{FEFF}\n <MPD/>".utf8),
            [0xFF, 0xFE] + utf16.flatMap { unit -> [UInt8] in [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)] },
            [0xFE, 0xFF] + utf16.flatMap { unit -> [UInt8] in [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)] },
        ]
        for text in texts {
            guard case .manifest(let root) = try StreamText(text, xml: LibXMLReader()) else {
                Issue.record("no manifest")
                continue
            }
            #expect(root.name == "MPD")
        }
        for text in ["#EXTM3U\n", "\u{FEFF}#EXTM3U\n<MPD/>", "", "MPD"] {
            #expect(try StreamText(Array(text.utf8), xml: LibXMLReader()) == .playlist(Array(text.utf8)))
        }
    }

    @Test func `without libxml2 a manifest is refused with the package, and a playlist is read`() throws {
        let reader = LibXMLReader(Result { () throws(XMLError) in try XMLLibrary("libxml2-absent.so") })
        let error = #expect(throws: LectureError.self) { try StreamText(Array("<MPD/>".utf8), xml: reader) }
        #expect(error?.code == .manifestReaderMissing && error?.cause.contains("libxml2") == true)
        #expect(try StreamText(Array("#EXTM3U".utf8), xml: reader) == .playlist(Array("#EXTM3U".utf8)))
    }

    @Test(arguments: [
        ("<MPD>\n<Period a=b/></MPD>", "line 2"), ("<!DOCTYPE a><MPD/>", "document type"), ("<MPD", ""),
    ])
    func `what is no well-formed XML is refused`(text: String, cause: String) {
        let error = #expect(throws: LectureError.self) { try StreamText(Array(text.utf8), xml: LibXMLReader()) }
        #expect(error?.code == .playlistDamaged && error?.cause.contains(cause) == true, "\(error?.cause ?? "")")
    }

    @Test(
        arguments: [
            ("25", 25_000), ("30000/1001", 29_970), ("12800/512", 25_000), ("0", nil), ("25/0", nil), ("a", nil),
            ("-1", nil), ("18446744073709551615", nil),
        ] as [(String, UInt64?)])
    func `frame rates are read`(text: String, due: UInt64?) throws {
        let set = "<AdaptationSet mimeType='video/mp4' frameRate='\(text)'><Representation/></AdaptationSet>"
        let manifest = try DASHSupport.read(DASHSupport.text("type='static'", "<Period>\(set)</Period>"))
        #expect(manifest.periods.first?.tracks.first?.representations.first?.format.frameRate == due)
    }
}
