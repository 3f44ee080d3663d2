import LectureCrypto
import LectureFiles
import LectureModel

/// The keys of a configuration, loaded.
struct ConfiguredKeys: Sendable {
    /// One named key.
    struct Entry: Sendable {
        let id: String
        let policy: KeyPolicy
    }

    let entries: [Entry]

    /// Reads every key.
    ///
    /// - Throws: ``LectureError``: `configuration`, `secretReadable`, `readFile`, `json`.
    init(_ keys: [RightsConfiguration.Key]) throws(LectureError) {
        var entries: [Entry] = []
        for key in keys {
            if entries.contains(where: { $0.id.utf8.elementsEqual(key.id.utf8) }) {
                throw LectureError(.configuration, detail: "drm.keys", cause: "two keys have the id '\(key.id)'")
            }
            entries.append(Entry(id: key.id, policy: try Self.policy(key)))
        }
        self.entries = entries
    }

    /// All of them, for licence files.
    var trust: LicenceTrust {
        let keys = entries.flatMap(\.policy.keys)
        return LicenceTrust(
            secrets: keys.filter(\.isSecret), keys: keys.filter { !$0.isSecret },
            certificates: entries.compactMap(\.policy.certificates).first)
    }

    /// The thumbprints of all of them: answers may be signed with any, licence files with those that are no secret.
    ///
    /// - Returns: the thumbprints.
    /// - Throws: ``LectureError`` with the code `cryptography`.
    func signers() throws(LectureError) -> GrantingKeys {
        var (answers, files): ([String], [String]) = ([], [])
        for key in entries.flatMap(\.policy.keys) {
            let name = try key.signerThumbprint()
            answers.append(name)
            if !key.isSecret { files.append(name) }
        }
        let roots = entries.compactMap(\.policy.certificates).map(\.rootThumbprints)
        return GrantingKeys(answers: answers + roots.flatMap(\.self), files: files + (roots.first ?? []))
    }

    private static func keySet(_ path: String, isLegacy: Bool) throws(LectureError) -> JWKSet {
        let bytes = try LicenceTrust.bytes(path)
        do throws(LectureError) { return try JWKSet(bytes, isLegacy: isLegacy) } catch {
            // It does not know the file.
            throw LectureError(error.code, detail: path, cause: error.cause)
        }
    }

    private static func policy(_ key: RightsConfiguration.Key) throws(LectureError) -> KeyPolicy {
        var policy: KeyPolicy
        switch key.place {
        case .secret(let path):
            let secret = try secret(path)
            do throws(KeyRefusal) {
                policy = KeyPolicy(keys: [try VerificationKey(secret: secret, isLegacy: key.isLegacy)])
            } catch {
                throw LectureError(.configuration, detail: path, cause: error.sentence)
            }
        case .keySet(let path):
            // A set may hold secrets; it is treated as secret only when it does.
            let set = try keySet(path, isLegacy: key.isLegacy)
            if set.keys.contains(where: \.isSecret) {
                _ = try SecretFile.open(path, limit: LicenceTrust.longest)
            }
            policy = KeyPolicy(keys: set.keys)
        case .roots(let path):
            let roots = try PEM.values(of: LicenceTrust.bytes(path), .certificate)
            policy = KeyPolicy(keys: [], certificates: try CertificateVerifier(roots: roots))
        }
        guard let name = key.algorithm else { return policy }
        guard let algorithm = SignatureAlgorithm(rawValue: name), policy.algorithms.contains(algorithm) else {
            throw LectureError(.configuration, detail: "drm.keys", cause: "the algorithm of '\(key.id)' is unknown")
        }
        guard policy.keys.isEmpty || policy.keys.contains(where: { $0.algorithms.contains(algorithm) }) else {
            throw LectureError(.configuration, detail: "drm.keys", cause: "'\(key.id)' is not for its algorithm")
        }
        policy.algorithms = [algorithm]
        return policy
    }

    /// A secret's bytes. A line end that an editor or `echo` appended to a text does not count; in binary secrets the
    /// same byte does.
    private static func secret(_ path: String) throws(LectureError) -> SecretBytes {
        let file = try SecretFile.open(path, limit: LicenceTrust.longest)
        let all = try unsafe SecretBytes(count: file.count) { buffer throws(LectureError) in
            try unsafe file.read(into: buffer)
        }
        let count = unsafe all.withBytes { bytes in
            var end = bytes.count
            if end > 0, unsafe bytes[end - 1] == 0x0A { end -= 1 }
            if end > 0, end < bytes.count, unsafe bytes[end - 1] == 0x0D { end -= 1 }
            let isText = unsafe bytes[..<end].allSatisfy { (0x20..<0x7F).contains($0) }
            return isText ? end : bytes.count
        }
        if count == all.count { return all }
        return try unsafe SecretBytes(count: count) { buffer in
            unsafe all.withBytes { unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
