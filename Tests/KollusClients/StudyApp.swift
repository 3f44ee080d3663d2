import Foundation
import KollusSDK
import KollusTestSupport

/// What the scenarios need of an application. Each application implements it in its own way: these are the seams at
/// which a test replaces its views.
protocol StudyApp: AnyObject {
    init(journal: Journal) async
    var kollus: KollusStorage { get async }
    func launch(_ values: Academy.Values) async throws
    func register(_ url: String) async throws -> String
    func fetch(_ mediaContentKey: String) async throws
    func stop(_ mediaContentKey: String) async throws
    func erase(_ mediaContentKey: String) async throws
    func renew(all: Bool) async
    func sendReports() async
    /// The rows of a screen, as media content keys.
    func screen(_ screen: Screen, now: Date) async -> [String]
}

/// What a list shows.
enum Screen {
    case inProgress
    case completed
    case recent
    /// Folders first, then by title; folders by their names.
    case library(folders: [String: String])
}
