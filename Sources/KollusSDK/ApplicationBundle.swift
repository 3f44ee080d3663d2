import Foundation

/// Which bundle id an application has.
///
/// On iOS applications write `storage.applicationBundleID = Bundle.main.bundleIdentifier`. On Linux a program is no
/// bundle and that is nil, so the identifier is looked for elsewhere. The first of these that names one counts:
///
/// 1. ``KollusStorage/applicationBundleID``
/// 2. ``KollusSettings/bundleIdentifier``
/// 3. the environment's `LECTURE_BUNDLE_ID`
/// 4. `CFBundleIdentifier` in the `Info.plist` that lies beside the program
enum ApplicationBundle {
    /// The environment variable that names the identifier.
    static let variable = "LECTURE_BUNDLE_ID"

    /// The identifier that counts.
    ///
    /// - Parameters:
    ///   - values: what the application has set.
    ///   - environment: of this process.
    ///   - directory: where the program lies.
    /// - Returns: nil when nothing names one.
    static func identifier(
        _ values: StorageCore.Values, _ environment: [String: String], directory: URL? = programDirectory
    ) -> String? {
        for text in [values.bundleID, values.settings.bundleIdentifier, environment[variable]] {
            if let text, !text.isEmpty { return text }
        }
        return directory.flatMap { written(in: $0) }
    }

    /// What an `Info.plist` says (XML or binary, Information Property List of Apple's).
    private static func written(in directory: URL) -> String? {
        guard let data = try? Data(contentsOf: directory.appending(path: "Info.plist")),
            let list = try? unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let text = list["CFBundleIdentifier"] as? String, !text.isEmpty
        else { return nil }
        return text
    }

    /// Where this program lies, links followed.
    static var programDirectory: URL? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map {
            URL(filePath: $0).deletingLastPathComponent()
        }
    }
}
