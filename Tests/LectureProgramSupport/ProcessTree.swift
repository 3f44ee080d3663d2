import Foundation
import Glibc

/// The processes that a process has started, and those that they have started.
enum ProcessTree {
    /// Kills all of them, each by its own identifier, but not the process itself.
    ///
    /// - Parameter root: a process of this test.
    static func kill(below root: Int32) {
        // A process that starts another meanwhile is found in the next round; a killed one starts none.
        for _ in 0..<4 {
            let found = identifiers(below: root)
            if found.isEmpty { return }
            for process in found { _ = Glibc.kill(process, SIGKILL) }
        }
    }

    private static func identifiers(below root: Int32) -> [Int32] {
        var children: [Int32: [Int32]] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = Int32(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { continue }
            // After the name, which may have anything, come the state and the parent.
            let words = text[text.index(after: end)...].split(separator: " ")
            guard words.count > 1, words[0] != "Z", let parent = Int32(words[1]) else { continue }
            children[parent, default: []].append(process)
        }
        var found: [Int32] = []
        var rest = children[root] ?? []
        while let next = rest.popLast() {
            found.append(next)
            rest += children[next] ?? []
        }
        return found
    }
}
