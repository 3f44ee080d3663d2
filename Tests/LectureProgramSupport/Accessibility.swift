import Foundation
import LectureTestSupport

extension Browser {
    /// What axe-core finds wrong with the page, by the rules of WCAG 2.2 A and AA and its best practices.
    ///
    /// - Returns: for each finding its rule, what it says, and the elements; empty when there is none.
    /// - Throws: ``ChildProcess/Failure`` when `Tools/axe` cannot install it; the driver's error.
    package func accessibilityFindings() async throws -> [String] {
        let source = try await AxeSource.shared.text()
        try await script(source)
        let found = try await scriptLater(
            """
            const done = arguments[arguments.length - 1]
            axe.run(document, {resultTypes: ['violations']}).then(
                (result) => done(result.violations.map((finding) =>
                    finding.id + ': ' + finding.help + ': ' + finding.nodes.map(
                        (node) => node.target.join(' ') + ' (' + node.failureSummary + ')').join('; '))),
                (error) => done(['axe: ' + error]))
            """)
        guard let findings = found as? [String] else {
            throw ChildProcess.Failure(description: "axe answered \(found)")
        }
        return findings
    }
}

/// The text of axe-core, read once.
private actor AxeSource {
    static let shared = AxeSource()
    private var known: String?

    func text() async throws -> String {
        if let known { return known }
        let ending = try await ChildProcess.run("\(Places.repository())/Tools/axe")
        guard ending.status == 0 else { throw ChildProcess.Failure(description: "Tools/axe: \(ending.errorText)") }
        let path = ending.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        known = text
        return text
    }
}
