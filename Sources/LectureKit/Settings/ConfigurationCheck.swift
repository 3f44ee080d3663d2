import LectureFiles
public import LectureModel
import LectureTransport

extension LectureConfiguration {
    /// Checks a configuration file, and the files that it names, without using any of it.
    ///
    /// What ``apply(file:)`` warns of is an error here: a setting that this version does not know. Beyond the values
    /// themselves it checks that root certificates, credentials, the client certificate and keys can be read, and that
    /// the group exists. No server is asked, and no store is opened.
    ///
    /// - Parameter file: its path.
    /// - Returns: every mistake that was found, each an error as a command would meet it; none for a file that can be
    ///   used. A value that is refused hides those behind it.
    public static func mistakes(inFile file: String) -> [LectureError] {
        let settings: ConfigurationFile
        var configuration = LectureConfiguration(storeDirectory: "/")
        do throws(LectureError) {
            settings = try ConfigurationFile.read(file, services: .ofProcess)
        } catch {
            return [error]
        }
        configuration.adopt(settings)
        let used = configuration
        return settings.unknown.map(\.error)
            + [
                mistake { _ = try used.downloadSettings() }, mistake { _ = try used.transport() },
                mistake { _ = try RootCertificates(caFile: used.caFile) },
                mistake { _ = try LicenceTrust(used.rights) },
                mistake { _ = try used.statistics.settings(bootID: "", rate: Guarded(nil)) },
                mistake { if let group = used.sharedGroup { try GroupSharing.require(group) } },
            ].compactMap(\.self)
            + (used.webhooks ?? []).compactMap { webhook in mistake { _ = try webhook.signer() } }
    }

    private static func mistake(_ body: () throws -> Void) -> LectureError? {
        do {
            try LectureError.only(body)
            return nil
        } catch {
            return error
        }
    }
}
