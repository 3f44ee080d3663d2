package import LectureFormats
package import LectureModel

/// What is signed: everything else in the archive follows from it by digests.
package struct BundleManifest: Sendable, Hashable {
    /// A device that the bundle is for.
    package struct Recipient: Sendable, Hashable {
        /// The thumbprint of its key: its player id.
        package let thumbprint: String
        /// The bundle's key, encrypted for it.
        package let key: String

        /// Names a device.
        package init(thumbprint: String, key: String) { (self.thumbprint, self.key) = (thumbprint, key) }
    }

    /// When it was made.
    package let created: Timestamp
    /// How many lectures there are.
    package let lectureCount: Int
    /// The length of the catalogue in bytes.
    package let catalogueBytes: UInt64
    /// The SHA-256 of the catalogue.
    package let catalogueDigest: [UInt8]
    /// How much of a sealed file one file of the archive holds, in bytes.
    package let partBytes: UInt64
    /// The devices that it is for.
    package let recipients: [Recipient]
    /// The public key of the signer, a JWK of its required members.
    package let signer: JSONValue

    private static let keyMembers = ["crv", "kty", "x", "y"]

    /// Describes a bundle.
    package init(
        created: Timestamp, lectureCount: Int, catalogueBytes: UInt64, catalogueDigest: [UInt8],
        partBytes: UInt64 = BundleFormat.partBytes, recipients: [Recipient], signer: JSONValue
    ) {
        (self.created, self.lectureCount, self.catalogueBytes) = (created, lectureCount, catalogueBytes)
        (self.catalogueDigest, self.partBytes, self.recipients) = (catalogueDigest, partBytes, recipients)
        self.signer = Self.required(signer)
    }

    /// The required members of a public key. `use`, `alg` and `kid` say what another program may do with the key, and
    /// here it does something else.
    static func required(_ key: JSONValue) -> JSONValue {
        let members = key.members ?? []
        return .object(
            keyMembers.compactMap { name in members.first { $0.name == name } }
                .map { JSONMember($0.name, $0.value) })
    }

    /// The manifest as it is signed.
    package var bytes: [UInt8] {
        let devices = recipients.map { recipient in
            JSONValue.object([
                JSONMember("key", .string(recipient.key)), JSONMember("kid", .string(recipient.thumbprint)),
            ])
        }
        var members = [
            JSONMember("bundle", .integer(Int64(BundleFormat.version))),
            JSONMember(
                "catalogue",
                .object([
                    JSONMember("bytes", .integer(Int64(clamping: catalogueBytes))),
                    JSONMember("sha256", .string(Hexadecimal.text(catalogueDigest))),
                ])),
            JSONMember("created_ms", .integer(created.milliseconds)),
            JSONMember("lectures", .integer(Int64(lectureCount))),
            JSONMember("part_bytes", .integer(Int64(clamping: partBytes))), JSONMember("signer", signer),
        ]
        if !devices.isEmpty { members.append(JSONMember("for", .array(devices))) }
        return CanonicalJSON.bytes(.object(members))
    }

    /// Reads a manifest. Nothing of it may be used before its signature was verified, except the signer's key.
    ///
    /// - Parameters:
    ///   - bytes: the payload of the token.
    ///   - limits: how large a bundle may be.
    /// - Throws: ``LectureError``: `bundleNewer`, `bundleRefused`.
    package init(_ bytes: [UInt8], limits: BundleLimits = BundleLimits()) throws(LectureError) {
        let value = try CanonicalJSON.object(bytes, "the manifest")
        if let version = value["bundle"]?.integer, version > BundleFormat.version {
            throw LectureError(.bundleNewer, cause: "version \(version)")
        }
        var reader = try MemberReading(value, "the manifest")
        _ = try reader.integer("bundle", in: 1...Int64(BundleFormat.version))
        created = Timestamp(milliseconds: try reader.integer("created_ms", in: 0...253_402_300_799_999))
        lectureCount = Int(try reader.integer("lectures", in: 0...Int64(limits.lectures)))
        partBytes = UInt64(try reader.integer("part_bytes", in: Int64(BundleFormat.chunkBytes)...(1 << 32)))
        guard partBytes.isMultiple(of: BundleFormat.chunkBytes) else { throw reader.fault("part_bytes") }
        var catalogue = try MemberReading(try reader.object("catalogue"), "the manifest's catalogue")
        catalogueBytes = UInt64(try catalogue.integer("bytes", in: 0...Int64(limits.catalogueBytes)))
        catalogueDigest = try catalogue.require(try catalogue.digest("sha256"), "sha256")
        try catalogue.finish()
        signer = try reader.object("signer")
        let names = (signer.members ?? []).map(\.name)
        guard names.allSatisfy(Self.keyMembers.contains) else { throw reader.fault("signer") }
        var recipients: [Recipient] = []
        for element in try reader.elements("for", atMost: limits.recipients) {
            var device = try MemberReading(element, "a device of the manifest")
            let name = try device.require(try device.text("kid", atMost: 64), "kid")
            let key = try device.require(try device.text("key", atMost: 4096), "key")
            try device.finish()
            recipients.append(Recipient(thumbprint: name, key: key))
        }
        self.recipients = recipients
        guard Set(recipients.map(\.thumbprint)).count == recipients.count else { throw reader.fault("for") }
        try reader.finish()
    }
}
