import Foundation

/// The bundle id of an application.
///
/// On iOS applications write `storage.applicationBundleID = Bundle.main.bundleIdentifier`. On Linux a program is not a
/// bundle and that is nil, so the identifier comes from elsewhere. The first of these that is set applies:
///
/// 1. ``KollusStorage/applicationBundleID``
/// 2. ``KollusSettings/bundleIdentifier``
/// 3. the environment's `LECTURE_BUNDLE_ID`
/// 4. `CFBundleIdentifier` in the `Info.plist` beside the program
enum ApplicationBundle {
    /// The environment variable that names the identifier.
    static let variable = "LECTURE_BUNDLE_ID"

    /// The identifier that applies.
    ///
    /// - Parameters:
    ///   - values: the application's values.
    ///   - environment: of this process.
    ///   - directory: the program's directory.
    /// - Returns: nil when none is set.
    static func identifier(
        _ values: StorageCore.Values, _ environment: [String: String], directory: URL? = programDirectory
    ) -> String? {
        for text in [values.bundleID, values.settings.bundleIdentifier, environment[variable]] {
            if let text, !text.isEmpty { return text }
        }
        return directory.flatMap { written(in: $0) }
    }

    /// The identifier in an `Info.plist` (XML or binary, Apple's Information Property List).
    private static func written(in directory: URL) -> String? {
        guard let data = try? Data(contentsOf: directory.appending(path: "Info.plist")),
            let list = try? unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let text = list["CFBundleIdentifier"] as? String, !text.isEmpty
        else { return nil }
        return text
    }

    /// The directory of this program, links resolved.
    static var programDirectory: URL? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map {
            URL(filePath: $0).deletingLastPathComponent()
        }
    }
}
