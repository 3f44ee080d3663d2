import LectureFormats

/// A system of content protection (ISO/IEC 23009-1 section 5.8.4.1), by its `schemeIdUri`.
package struct DASHProtection: Hashable, Sendable {
    /// `schemeIdUri`, in lower case.
    package let scheme: String
    /// The name of the system, as its vendor writes it; the URI of an unknown one.
    package let name: String

    /// The systems of the DASH-IF registry (https://dashif.org/identifiers/content_protection) that have a name here.
    static let names = [
        "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed": "Widevine",
        "urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95": "PlayReady",
        "urn:uuid:94ce86fb-07ff-4f43-adb8-93d2fa968ca2": "FairPlay",
        "urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e": "Clear Key",
        "urn:uuid:1077efec-c0b2-4d02-ace3-3c1e52e2fb4b": "W3C Common PSSH",
        "urn:uuid:5e629af5-38da-4063-8977-97ffbd9902d4": "Marlin",
        "urn:uuid:f239e769-efa3-4850-9c16-a903c6932efb": "Adobe Primetime",
        "urn:uuid:9a27dd82-fde2-4725-8cbc-4234aa06ec09": "Verimatrix",
        "urn:mpeg:dash:mp4protection:2011": "MPEG Common Encryption",
        "urn:mpeg:dash:sea:2012": "MPEG-DASH segment encryption",
    ]

    /// Reads a `ContentProtection` element.
    init(_ element: XMLElement) {
        scheme = FieldText.lowercased(DASHText.trimmed(element["schemeIdUri"] ?? ""))
        var name = Self.names[scheme] ?? DASHText.quoted(scheme)
        // The four-character code of the scheme, such as cenc or cbcs (ISO/IEC 23001-7).
        if scheme == "urn:mpeg:dash:mp4protection:2011", let value = element["value"] {
            name += " (\(FieldText.lowercased(value).prefix(4)))"
        }
        self.name = name
    }
}
