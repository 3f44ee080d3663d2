import LectureBundle
import LectureCrypto
import LectureFormats
import LectureModel
import Testing

/// The token around the manifest: algorithm, type, key, signature.
@Suite struct BundleSignatureTests {
    /// A key that signs, and an archive without a manifest.
    private struct Scene {
        let key: SigningKey
        let name: String
        let algorithm: String
        let payload: [UInt8]
        private let files: [LooseFile]

        init(_ algorithm: String, files: [LooseFile], manifest: BundleManifest) throws {
            self.algorithm = algorithm
            key = algorithm == "ES256" ? try .generateES256() : try .generateEdDSA()
            name = try key.verificationKey().thumbprint()
            self.files = files
            payload = manifest.signed(by: try JSONScanner.scan(try #require(key.publicJWK))).bytes
        }

        static func all() throws -> [Scene] {
            let files = try LooseFile.files(of: try MemoryBundle(sizes: [10]).bytes)
            let token = try #require(files.last?.bytes)
            let manifest = try BundleManifest(try #require(BundleSigner.unverifiedPayload(of: token)))
            return try ["ES256", "EdDSA"].map { try Scene($0, files: files, manifest: manifest) }
        }

        /// The header that is right.
        var header: String { #"{"alg":"\#(algorithm)","kid":"\#(name)","typ":"lecturekit-bundle+jwt"}"# }

        func token(_ header: String? = nil, _ payload: [UInt8]? = nil) throws -> [UInt8] {
            try key.sign(payload ?? self.payload, header: Array((header ?? self.header).utf8))
        }

        /// What an archive with this token is read as.
        func outcome(_ token: [UInt8]) -> Result<String, LectureError> {
            var changed = files
            changed[files.count - 1].bytes = token
            do throws(LectureError) {
                return .success(try BundleReader(MemoryBytes(bytes: LooseFile.archive(changed))).signer)
            } catch { return .failure(error) }
        }
    }

    @Test func `the signer's own header is read, and its media type in any spelling of RFC 7515`() throws {
        for scene in try Scene.all() {
            #expect(scene.outcome(try scene.token()) == .success(scene.name))
            for type in ["application/lecturekit-bundle+jwt", "LECTUREKIT-BUNDLE+JWT"] {
                let header = scene.header.replacing("lecturekit-bundle+jwt", with: type)
                #expect(scene.outcome(try scene.token(header)) == .success(scene.name), "\(type)")
            }
        }
    }

    @Test func `another algorithm, type or key in a header is a wrong signature`() throws {
        for scene in try Scene.all() {
            let kid = #""kid":"\#(scene.name)""#
            var headers: [String] = []
            for algorithm in [
                "none", "None", "NONE", "HS256", "HS512", "RS256", "PS256", "ES384", "ES512", "ES256K", "es256",
                "Ed25519",
                "EDDSA", "", scene.algorithm + " ", scene.algorithm == "ES256" ? "EdDSA" : "ES256",
            ] {
                headers.append(scene.header.replacing(#""\#(scene.algorithm)""#, with: #""\#(algorithm)""#))
            }
            for member in ["null", "7", "[]", #"["\#(scene.algorithm)"]"#] {
                headers.append(scene.header.replacing(#""\#(scene.algorithm)""#, with: member))
            }
            headers.append(scene.header.replacing(#""alg":"\#(scene.algorithm)","#, with: ""))
            for type in [
                "JWT", "", "lecturekit-bundle", "lecturekit-bundle+jws", "lecturekit-bundle+jwt ",
                "text/lecturekit-bundle+jwt",
                "application/x/lecturekit-bundle+jwt", "lecturekit-webhook+jwt",
            ] {
                headers.append(scene.header.replacing("lecturekit-bundle+jwt", with: type))
            }
            headers.append(scene.header.replacing(#","typ":"lecturekit-bundle+jwt""#, with: ""))
            headers.append(scene.header.replacing(#""lecturekit-bundle+jwt""#, with: "7"))
            for name in ["", "another", scene.name + "=", " " + scene.name, String(scene.name.dropLast())] {
                headers.append(scene.header.replacing(kid, with: #""kid":"\#(name)""#))
            }
            headers += ["null", "7", "{}"].map { scene.header.replacing(kid, with: #""kid":\#($0)"#) }
            for more in [
                #""jku":"http://h/k""#, #""x5u":"http://h/k""#, #""jwk":{}"#, #""b64":false"#, #""zip":"DEF""#,
                #""crit":["exp"]"#, #""crit":[]"#, #""cty":"JWT""#, #""x5c":["AA"]"#, #""x5c":[]"#,
            ] {
                headers.append(scene.header.replacing(#"{"alg""#, with: "{\(more),\"alg\""))
            }
            #expect(Set(headers).count == headers.count && !headers.contains(scene.header))
            for header in headers {
                let outcome = scene.outcome(try scene.token(header))
                #expect(outcome == .failure(LectureError(.bundleSignature)), "\(header)")
            }
        }
    }

    @Test func `what is no token is refused before a key is taken from it`() throws {
        for scene in try Scene.all() {
            let token = String(decoding: try scene.token(), as: UTF8.self)
            let parts = token.split(separator: ".").map(String.init)
            for text in [
                "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(token).", ".\(token)", "\(token).AA",
                "\(token)\n", " \(token)", "\(token)=", "\(token)\u{0}", "\(parts[0])..\(parts[2])",
                ".\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1])=.\(parts[2])", "\(parts[0]).+/.\(parts[2])",
                "AA.\(parts[1]).\(parts[2])", #"{"payload":"\#(parts[1])"}"#, "\u{FEFF}\(token)",
                "\(Base64URL.text(Array("[]".utf8))).\(parts[1]).\(parts[2])",
                "\(Base64URL.text(Array(#"{"alg":"ES256","alg":"ES256"}"#.utf8))).\(parts[1]).\(parts[2])",
            ] {
                let outcome = scene.outcome(Array(text.utf8))
                #expect(outcome == .failure(LectureError(.bundleRefused)), "\(text.debugDescription)")
            }
        }
    }

    @Test func `a signature is of these bytes, by this key, and whole`() throws {
        let scenes = try Scene.all()
        for (scene, other) in zip(scenes, scenes.reversed()) {
            let text = String(decoding: try scene.token(), as: UTF8.self)
            let parts = text.split(separator: ".").map(String.init)
            let signature = try #require(Base64URL.bytes(parts[2]))
            #expect(signature.count == 64)
            func outcome(_ signature: [UInt8], _ head: String? = nil) -> Result<String, LectureError> {
                scene.outcome(Array("\(head ?? "\(parts[0]).\(parts[1])").\(Base64URL.text(signature))".utf8))
            }
            #expect(outcome(signature) == .success(scene.name))
            var wrong = (0..<64).map { place in
                var changed = signature
                changed[place] ^= 1 << UInt8(place % 8)
                return changed
            }
            wrong += [0, 1, 32, 63].map { Array(signature.prefix($0)) }
            wrong += [
                signature + [0], [0] + signature, signature + signature, signature.suffix(32) + signature.prefix(32),
            ]
            wrong += [0, 1, 0xFF].map { [UInt8](repeating: $0, count: 64) }
            // Right ones, of other texts and by other keys.
            var rights = [try scene.token(nil, scene.payload + [0x20]), try scene.token(scene.header + " ")]
            rights += [try other.token(scene.header, scene.payload), try other.token()]
            for token in rights {
                let last = String(decoding: token, as: UTF8.self).split(separator: ".").last
                wrong.append(try #require(last.flatMap { Base64URL.bytes(String($0)) }))
            }
            for signature in wrong {
                #expect(outcome(signature) == .failure(LectureError(.bundleSignature)), "\(signature)")
            }
            // The signature of one payload under another of the same key.
            let payload = try BundleManifest(scene.payload)
            let later = payload.signed(by: payload.signer, at: payload.created.milliseconds + 1).bytes
            let head = "\(parts[0]).\(Base64URL.text(later))"
            #expect(outcome(signature, head) == .failure(LectureError(.bundleSignature)))
            #expect(scene.outcome(try scene.token(nil, later)) == .success(scene.name))
        }
    }

    @Test func `a signer is one public key of a kind that signs bundles`() throws {
        let scenes = try Scene.all()
        for (scene, other) in zip(scenes, scenes.reversed()) {
            let payload = try CanonicalJSON.object(scene.payload, "it")
            func outcome(_ signer: JSONValue) throws -> Result<String, LectureError> {
                let members = try #require(payload.members).map {
                    $0.name == "signer" ? JSONMember("signer", signer) : $0
                }
                return scene.outcome(try scene.token(nil, CanonicalJSON.bytes(.object(members))))
            }
            let signer = try #require(payload["signer"]?.members)
            #expect(try outcome(.object(signer)) == .success(scene.name))
            for place in signer.indices {
                var changed = signer
                changed.remove(at: place)
                var refused = [changed]
                let text = signer[place].value.string ?? ""
                let values: [JSONValue] = [
                    .null, .integer(1), .string(""), .string("AA"), .string(text + "="), .string(text + "AA"),
                    .object([]),
                    .string(text.lowercased() + " "), .string("P-384"), .string("RSA"),
                ]
                for value in values {
                    changed = signer
                    changed[place] = JSONMember(signer[place].name, value)
                    refused.append(changed)
                }
                for members in refused {
                    let found = try outcome(.object(members))
                    #expect(found == .failure(LectureError(.bundleRefused)), "\(JSONValue.object(members).text)")
                }
            }
            let secret = signer + [JSONMember("d", .string("AA"))]
            for value in [.object([]), .object(secret), .array([.object(signer)]), .string(scene.name)] as [JSONValue] {
                #expect(try outcome(value) == .failure(LectureError(.bundleRefused)), "\(value.text)")
            }
            // A key that has not signed.
            let foreign = try #require(CanonicalJSON.object(other.payload, "it")["signer"])
            #expect(try outcome(foreign) == .failure(LectureError(.bundleSignature)))
        }
    }
}

extension BundleManifest {
    /// The same manifest for another signer.
    fileprivate func signed(by signer: JSONValue, at created: Int64? = nil) -> BundleManifest {
        BundleManifest(
            created: created.map { Timestamp(milliseconds: $0) } ?? self.created, lectureCount: lectureCount,
            catalogueBytes: catalogueBytes, catalogueDigest: catalogueDigest, partBytes: partBytes,
            recipients: recipients, signer: signer)
    }
}
